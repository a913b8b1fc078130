// Faults of Redis and of the connection to it: responses meanwhile, what is remembered, and time to recover.
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startEcho } from '../../upstreams/echo/echo.ts';
import { adminWriter } from '../support/admin-write.ts';
import { type RunningGateway, runGateway } from '../support/gateway.ts';
import { type Answer, type Client, overHttp1 } from '../support/http-client.ts';
import { startTestIssuer, type TestIssuer } from '../support/issuer.ts';
import { type FaultyRedis, REDIS_FAULTS, startFaultyRedis } from '../support/redis-faults.ts';

/** Far above the bound that test:faults measures, for a machine that runs other tests. */
const LATER_MS = 2_000;
/** The promised 2 s, plus time for a busy machine. */
const RECOVERED_WITHIN_MS = 2_000 + 4_000;
const SERVED = 30;

const stack = new AsyncDisposableStack();
let redis: FaultyRedis;
let issuer: TestIssuer;
let gateway: RunningGateway;
let client: Client;
let admin: Client;
let write: ReturnType<typeof adminWriter>;

beforeAll(async () => {
  const echo = stack.adopt(await startEcho({ port: 0 }), (service) => service.close());
  issuer = stack.adopt(await startTestIssuer(), (service) => service.close());
  redis = stack.use(await startFaultyRedis());
  gateway = stack.use(
    await runGateway({
      policies: 'store-faults',
      environment: { ECHO: echo.url, ISSUER: issuer.url, STORE: redis.url },
    }),
  );
  client = stack.use(overHttp1(gateway.https));
  admin = stack.use(overHttp1(gateway.admin, { tls: false }));
  write = adminWriter(admin, await gateway.adminToken());
  await soon(async () => expect((await beginPause('v1')).status).toBe(201));
});
afterAll(() => stack.disposeAsync());

/** Waits for an effect without a promised time. */
const soon = <T>(look: () => Promise<T> | T): Promise<T> =>
  vi.waitFor(look, { timeout: 20_000, interval: 25 });

const beginPause = (version: string): Promise<Answer> =>
  write({
    method: 'POST',
    path: '/-/pauses',
    body: { api: 'orders', version, for: '10d', by: 'alice', why: 'incident 4711' },
  });

const holding = async (id: string) => ({
  authorization: `Bearer ${await issuer.sign({ sub: id, client_id: id })}`,
});

const ask = async (api: string, caller: string): Promise<Answer> =>
  client.ask({ path: `/api/${api}`, headers: await holding(caller) });

async function times(count: number, api: string, caller: string) {
  const headers = await holding(caller);
  const answers: Answer[] = [];
  const took: number[] = [];
  for (let call = 0; call < count; call += 1) {
    const before = performance.now();
    answers.push(await client.ask({ path: `/api/${api}`, headers }));
    took.push(performance.now() - before);
  }
  return { statuses: answers.map(({ status }) => status), answers, took };
}

async function newKey(): Promise<string> {
  const { status, json } = await write({
    method: 'POST',
    path: '/-/keys',
    body: { consumer: 'acme', by: 'alice', why: 'incident 4711' },
  });
  expect(status).toBe(201);
  return String(json.secret);
}
const askWithKey = (key: string): Promise<Answer> =>
  client.ask({ path: '/api/keyed', headers: { 'x-api-key': key } });

const modeOf = (api: string, mode: string) =>
  gateway.metric(`sundial_ratelimit_mode{api="${api}",version="none",policy="default",mode="${mode}"}`);

const repeat = (count: number, status: number): readonly number[] => Array(count).fill(status);

describe('a Redis that is', () => {
  it.each(REDIS_FAULTS)('$what', async ({ what, befall, lift, told }) => {
    await using fault = new AsyncDisposableStack();
    const known = `known ${what}`;
    await soon(async () =>
      expect((await ask('local', `first ${what}`)).headers).toHaveProperty('x-ratelimit-limit'),
    );
    await soon(async () => expect((await ask('accounts', known)).status).toBe(200));
    // If the check for changes coincides with a claim, the gateway asks Redis once more.
    await times(2, 'accounts', known);
    const key = await soon(newKey);
    const usual = await times(5, 'allow', what);
    expect(usual.statuses).toEqual(repeat(5, 200));

    fault.defer(async () => void (await lift(redis)));
    await befall(redis);
    const allowed = await times(SERVED, 'allow', what);
    expect(allowed.statuses).toEqual(repeat(SERVED, 200));
    expect(Math.max(...allowed.took)).toBeLessThan(Math.max(...usual.took) + LATER_MS);

    const counted = await times(8, 'local', what);
    expect(counted.statuses).toEqual([...repeat(5, 200), ...repeat(3, 429)]);
    for (const { headers } of counted.answers) expect(headers).not.toHaveProperty('x-ratelimit-limit');

    const refused = await ask('refuse', what);
    expect(refused).toMatchObject({
      status: 503,
      json: { error: 'Service Unavailable', message: 'Requests cannot be counted right now.' },
      headers: {
        'retry-after': expect.stringMatching(/^[1-9]\d?$/),
        'proxy-status': 'sundial; error=destination_unavailable',
      },
    });
    expect(refused.headers.connection).not.toBe('close');

    // Tokens still work. A key that this process does not know gets 503.
    expect((await ask('keyed', what)).status).toBe(200);
    const before = performance.now();
    const unjudged = await askWithKey(key);
    expect(performance.now() - before).toBeLessThan(LATER_MS);
    // In some of these faults Redis can still be read.
    if (told === 'away' || unjudged.status !== 200) {
      expect(unjudged).toMatchObject({ status: 503, headers: { 'retry-after': expect.any(String) } });
      expect(unjudged.headers).not.toHaveProperty('www-authenticate');
      const line = await gateway.accessLine(unjudged.headers['x-request-id']);
      expect(line).toMatchObject({ fault: 'identity_unavailable' });
    }

    expect(await ask('accounts', known)).toHaveProperty('status', 200);
    expect(await ask('accounts', `unknown ${what}`)).toMatchObject({
      status: 503,
      json: { retryAfter: 1 },
      headers: { 'retry-after': '1', 'proxy-status': 'sundial; error=destination_unavailable' },
    });
    const paused = { path: '/api/v1/orders' };
    expect((await client.ask(paused)).status).toBe(200);
    expect(await beginPause('v1')).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
    expect((await gateway.reload()).kind).toBe('unchanged');
    expect((await admin.ask({ path: '/-/healthy' })).status).toBe(200);
    expect((await admin.ask({ path: '/-/ready' })).status).toBe(200);
    expect(await gateway.metric('sundial_store_up{store="redis"}')).toBe(0);
    for (const mode of ['local', 'allow', 'refuse']) expect(await modeOf(mode, mode)).toBe(1);
    const reason = `Redis refuses an operation (${told})`;
    if (told !== 'away') await soon(async () => expect(gateway.logText()).toContain(reason));

    const liftedAt = performance.now();
    await fault.disposeAsync();
    await soon(async () => {
      const { status, headers } = await ask('local', `again ${what} ${performance.now()}`);
      expect([status, headers['x-ratelimit-remaining']]).toEqual([200, '4']);
    });
    expect(performance.now() - liftedAt).toBeLessThan(RECOVERED_WITHIN_MS);
    const exact = await times(7, 'refuse', `exact ${what}`);
    // On a busy machine Redis may respond too late, so that a counted request is refused.
    const count = (status: number) => exact.statuses.filter((each) => each === status).length;
    expect(count(200)).toBeLessThanOrEqual(5);
    expect(count(200) + count(503)).toBeGreaterThanOrEqual(5);
    expect(count(200) + count(503) + count(429)).toBe(7);
    await soon(async () => expect((await ask('accounts', `unknown ${what}`)).status).toBe(200));
    expect((await client.ask(paused)).status).toBe(200);
    await soon(async () => expect(await gateway.metric('sundial_store_up{store="redis"}')).toBe(1));
    expect(await modeOf('refuse', 'shared')).toBe(1);
  });

  it('restarted and empty gets the pause back, and counts limits again', async () => {
    await soon(async () => expect((await ask('refuse', 'before the restart')).status).toBe(200));
    await redis.kill();
    await redis.comeBack();
    const backAt = performance.now();
    await soon(async () => expect((await ask('refuse', `after it ${performance.now()}`)).status).toBe(200));
    expect(performance.now() - backAt).toBeLessThan(RECOVERED_WITHIN_MS);
    expect((await client.ask({ path: '/api/v1/orders' })).status).toBe(200);
    await soon(async () => {
      expect(await redis.byHand('HLEN', 'sundial:{state}:overrides')).toBeGreaterThan(0);
    });
    // Redis has them shortly before the gateway logs it.
    const told = 'Redis has lost data; overrides written back: ';
    await soon(async () => expect(gateway.logText()).toContain(told));
  });
});
