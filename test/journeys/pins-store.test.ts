// Pins that two gateways share on Redis, and their accounts when Redis is killed and comes back.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { openStores } from '../../gateway/stores/open-stores.ts';
import { startEcho } from '../../upstreams/echo/echo.ts';
import { type RunningGateway, runGateway } from '../support/gateway.ts';
import { type Answer, type Client, overHttp1 } from '../support/http-client.ts';
import { startTestIssuer, type TestIssuer } from '../support/issuer.ts';
import { type RunningRedis, startRedis } from '../support/redis-server.ts';
import { untilStore } from '../support/until-store.ts';

const stack = new AsyncDisposableStack();
let perTest = new AsyncDisposableStack();
/** The clock of each gateway. */
let nows: number[] = [];
let issuer: TestIssuer;
let echoUrl = '';
let redis: RunningRedis;
let gateways: readonly RunningGateway[] = [];
let clients: readonly Client[] = [];

beforeAll(async () => {
  echoUrl = stack.adopt(await startEcho({ port: 0 }), (service) => service.close()).url;
  issuer = stack.adopt(await startTestIssuer(), (service) => service.close());
});
afterAll(() => stack.disposeAsync());

const DAY = Date.UTC(2026, 10, 20);
const RELEASE = Date.UTC(2026, 11, 1);

const startGateway = async (which: number) =>
  perTest.use(
    await runGateway({
      policies: 'pins',
      lifecycleNow: () => nows[which] ?? DAY,
      environment: { ECHO: echoUrl, ISSUER: issuer.url, STORE: redis.url, REPLICAS: '2' },
    }),
  );

beforeEach(async () => {
  nows = [DAY, DAY];
  perTest = new AsyncDisposableStack();
  redis = await startRedis();
  perTest.defer(() => redis.stop());
  gateways = [await startGateway(0), await startGateway(1)];
  clients = gateways.map((gateway) => perTest.use(overHttp1(gateway.https)));
});
afterEach(() => perTest.disposeAsync());

const holding = async (id: string, claims: Record<string, unknown> = {}) => ({
  authorization: `Bearer ${await issuer.sign({ sub: id, client_id: id, ...claims })}`,
});

async function ask(which: number, headers: Record<string, string>): Promise<Answer> {
  const client = clients[which];
  if (client === undefined) throw new Error(`no gateway ${which}`);
  return client.ask({ path: '/api/payments', headers });
}

const versionFor = async (which: number, headers: Record<string, string>) => {
  const { status, json } = await ask(which, headers);
  if (status !== 200) return status;
  return (json.headers as [string, string][]).find(([name]) => name.toLowerCase() === 'api-version')?.[1];
};

/** Retried on 503, because Redis may be late on a busy machine. */
const servedFor = (which: number, headers: Record<string, string>) =>
  vi.waitFor(
    async () => {
      const version = await versionFor(which, headers);
      expect(version).not.toBe(503);
      return version;
    },
    { timeout: 20_000, interval: 50 },
  );

describe('two gateways with one Redis', () => {
  it('keep one pin for an account, whichever gateway gets the first call', async () => {
    const fresh = await holding('shared');
    expect(await servedFor(0, fresh)).toBe('2026-06-01');
    nows = [RELEASE, RELEASE];
    expect(await servedFor(1, fresh)).toBe('2026-06-01');
  });

  it('agree on one of many first calls, also if they see a release at different times', async () => {
    nows = [DAY, RELEASE];
    for (let round = 0; round < 5; round += 1) {
      const fresh = await holding(`at-once-${round}`);
      const versions = await Promise.all(
        Array.from({ length: 20 }, (_, index) => servedFor(index % 2, fresh)),
      );
      // The first gateway does not know a version that only the second has seen released.
      const [version] = versions.filter((each) => each !== 400);
      const expected = version === '2026-12-01' ? [400, version] : [version, version];
      expect(versions).toEqual(versions.map((_, index) => expected[index % 2]));
      expect(['2026-06-01', '2026-12-01']).toContain(version);
    }
  });

  it('see an upgrade by another gateway', async () => {
    const acme = await holding('moved', { account_created: '2025-03-14' });
    expect([await servedFor(0, acme), await servedFor(1, acme)]).toEqual(['2024-09-01', '2024-09-01']);
    const third = await openStores({
      store: { kind: 'redis', url: redis.url },
      replicas: 1,
      monotonic: () => performance.now(),
      onState: () => undefined,
      onFault: (error) => {
        throw error;
      },
    });
    perTest.defer(third.close);
    const pin = { label: '2025-09-15', origin: 'upgrade', since: DAY, previous: undefined } as const;
    expect(await third.pins.replace({ api: 'payments', account: 'moved' }, undefined, pin)).toBe(true);
    await vi.waitFor(
      async () =>
        expect([await servedFor(0, acme), await servedFor(1, acme)]).toEqual(['2025-09-15', '2025-09-15']),
      { timeout: 20_000, interval: 50 },
    );
  });
});

describe('Redis is unavailable', () => {
  it('known accounts keep their version, others get 503 until Redis is back', async () => {
    const warm = await holding('warm');
    const dated = await holding('dated', { account_created: '2025-03-14' });
    const cold = await holding('cold');
    expect([await versionFor(0, warm), await versionFor(0, dated)]).toEqual(['2026-06-01', '2024-09-01']);
    await redis.stop();
    await untilStore(gateways, false);
    nows = [RELEASE, RELEASE];

    expect([await versionFor(0, warm), await versionFor(0, dated)]).toEqual(['2026-06-01', '2024-09-01']);
    const answer = await ask(0, cold);
    expect(answer).toMatchObject({
      status: 503,
      json: {
        error: 'Service Unavailable',
        message: 'The version of this account cannot be looked up right now. Name a version in API-Version.',
        retryAfter: 1,
        estimatedRestoration: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/),
      },
      headers: {
        'retry-after': '1',
        'cache-control': 'no-store',
        'proxy-status': 'sundial; error=destination_unavailable',
        vary: 'Accept, API-Version, Origin',
      },
    });
    expect(`${answer.text}${JSON.stringify(answer.lines)}`).not.toMatch(/redis|127\.0\.0\.1|ECONN/i);
    const line = await gateways[0]?.accessLine(answer.headers['x-request-id']);
    expect(line).toMatchObject({
      refusal: 'pins_unavailable',
      carrier: 'pin',
      status: 503,
      consumer: 'cold',
    });
    const series = 'sundial_version_resolutions_total{api="payments",carrier="pin",outcome="unavailable"}';
    expect(await gateways[0]?.metric(series)).toBe(1);
    const own = await clients[0]?.ask({ path: '/.well-known/lifecycle/usage.json', headers: cold });
    expect(own).toMatchObject({
      status: 503,
      json: { message: 'Your usage cannot be looked up right now.' },
      headers: { 'retry-after': '1', 'cache-control': 'no-store' },
    });
    expect(await gateways[0]?.accessLine(own?.headers['x-request-id'])).toMatchObject({
      refusal: 'usage_unavailable',
    });
    expect(await versionFor(0, { ...cold, 'API-Version': '2025-09-15' })).toBe('2025-09-15');
    // The creation day does not show whether the pin was moved.
    expect(await versionFor(1, dated)).toBe(503);

    redis = await startRedis({ port: redis.port });
    await untilStore(gateways, true);
    await vi.waitFor(async () => expect(await versionFor(0, cold)).toBe('2026-12-01'), { timeout: 20_000 });
  });
});
