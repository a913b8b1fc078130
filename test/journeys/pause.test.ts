// Pauses over real sockets: begun at the admin listener, in force from the next request on, over to the second, and gone
// for nobody when the store is.
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { runExplain } from '../../gateway/cli/explain.ts';
import { startEcho } from '../../upstreams/echo/echo.ts';
import { type RunningGateway, runGateway } from '../support/gateway.ts';
import { type Answer, type Ask, type Client, overHttp1 } from '../support/http-client.ts';
import { startTestIssuer } from '../support/issuer.ts';
import { AUTHOR, beginPause, endPause, type PauseOf, REASON } from '../support/pauses.ts';
import { startRedis } from '../support/redis-server.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const at = (text: string) => Temporal.Instant.from(text).epochMilliseconds;
const TODAY = at('2026-11-20T00:00:00Z');
const WEEK_LATER = TODAY + 7 * DAY;
const ORDERS = '/.well-known/lifecycle/orders';

interface Explained {
  readonly status?: number;
  readonly headers: Readonly<Record<string, string>>;
}

const stack = new AsyncDisposableStack();
const tokens = new Map<string, string>();
let environment: Record<string, string> = {};
let gateway: RunningGateway;
let client: Client;
let now = TODAY;
/** With the instant each was begun at, before which it has not ended. */
const running = new Map<string, number>();

beforeAll(async () => {
  const echo = stack.adopt(await startEcho({ port: 0 }), (service) => service.close());
  const issuer = stack.adopt(await startTestIssuer(), (service) => service.close());
  environment = { ECHO: echo.url, ISSUER: issuer.url };
  gateway = stack.use(await runGateway({ policies: 'pause', lifecycleNow: () => now, environment }));
  client = stack.use(overHttp1(gateway.https));
  for (const id of ['acme', 'other'])
    tokens.set(id, `Bearer ${await issuer.sign({ client_id: id, scope: 'orders:read orders:write' })}`);
});
afterEach(async () => {
  for (const [id, begun] of running) {
    now = begun;
    await end(id);
  }
});
afterAll(() => stack.disposeAsync());

async function begin(instant: number, pause: PauseOf): Promise<string> {
  now = instant;
  const id = await beginPause(gateway, pause);
  running.set(id, instant);
  return id;
}

async function end(id: string): Promise<void> {
  running.delete(id);
  await endPause(gateway, id);
}

function askAt(
  instant: number,
  path: string,
  { headers, ...ask }: Partial<Ask> = {},
  as = 'other',
): Promise<Answer> {
  now = instant;
  const authorization = tokens.get(as) ?? '';
  return client.ask({ path, headers: { authorization, ...headers }, ...ask });
}

async function statusesAt(path: string, instants: readonly number[]): Promise<readonly number[]> {
  const statuses: number[] = [];
  for (const instant of instants) statuses.push((await askAt(instant, path)).status);
  return statuses;
}

describe('a pause during a brownout', () => {
  const IN_WINDOW = at('2027-01-05T14:05:00Z');
  const path = '/api/v2/orders/7';

  it('lets the next request pass, without a reload, and the next but one after its end not', async () => {
    expect(await statusesAt(path, [IN_WINDOW])).toEqual([410]);
    const id = await begin(IN_WINDOW, { api: 'orders', version: 'v2', until: IN_WINDOW + HOUR });
    const answer = await askAt(IN_WINDOW, path);
    expect(answer).toMatchObject({
      status: 200,
      headers: { sunset: 'Thu, 15 Apr 2027 00:00:00 GMT', deprecation: '@1768435200' },
    });
    await end(id);
    expect(await statusesAt(path, [IN_WINDOW])).toEqual([410]);
    expect(await gateway.metric('sundial_config_reloads_total{result="success"}')).toBe(0);
  });

  it('that ends within the window gives way to it to the second', async () => {
    const until = IN_WINDOW + 60_000;
    await begin(IN_WINDOW, { api: 'orders', version: 'v2', until });
    expect(await statusesAt(path, [until - 1, until, until + 1000])).toEqual([200, 410, 410]);
  });

  it('of one version is none of another', async () => {
    await begin(IN_WINDOW, { api: 'orders', version: 'v3', until: IN_WINDOW + HOUR });
    expect(await statusesAt(path, [IN_WINDOW])).toEqual([410]);
  });
});

describe('a pause after the retirement', () => {
  const path = '/api/v1/orders/7';
  const POST = { method: 'POST', body: '{"a":1}', headers: { 'content-type': 'application/json' } };

  it('RET-1: serves again what was redirected, whatever the method, and redirects again at its end', async () => {
    const statusesOf = async (instant: number) => [
      (await askAt(instant, path)).status,
      (await askAt(instant, path, { method: 'HEAD' })).status,
      (await askAt(instant, path, POST)).status,
    ];
    expect(await statusesOf(TODAY)).toEqual([301, 301, 308]);
    await begin(TODAY, { api: 'orders', until: WEEK_LATER });
    expect(await statusesOf(TODAY)).toEqual([200, 200, 200]);
    expect(await statusesOf(WEEK_LATER - 1)).toEqual([200, 200, 200]);
    expect(await statusesOf(WEEK_LATER)).toEqual([301, 301, 308]);
  });

  it('SUN-2, WARN-3: says when it will be over, in the stage it is in', async () => {
    await begin(TODAY, { api: 'orders', version: 'v1', until: WEEK_LATER });
    const answer = await askAt(TODAY, path);
    expect(answer.headers).toMatchObject({
      sunset: 'Fri, 27 Nov 2026 00:00:00 GMT',
      deprecation: '@1736899200',
      warning:
        '299 - "Version v1 is deprecated and will be removed on 2026-11-27; see https://docs.example.com/orders/v1-to-v3"',
      link: expect.stringContaining('<https://127.0.0.1/api/v3/orders/7>; rel="successor-version"'),
    });
    expect(await gateway.accessLine(answer.headers['x-request-id'])).toMatchObject({
      status: 200,
      version: 'v1',
      stage: 'deprecated',
    });
    const of = (name: string, more = '') => gateway.metric(`${name}{api="orders",version="v1"${more}}`);
    expect(await of('sundial_version_paused')).toBe(1);
    expect(await of('sundial_version_info', ',stage="deprecated",successor="v3"')).toBe(1);
    expect(await of('sundial_version_sunset_timestamp_seconds')).toBe(WEEK_LATER / 1000);
    now = WEEK_LATER;
    expect(await of('sundial_version_paused')).toBe(0);
    expect(await of('sundial_version_info', ',stage="retired",successor="v3"')).toBe(1);
  });

  it('RET-11: cannot serve what has no upstream: its 410 stays', async () => {
    await begin(TODAY, { api: 'orders', until: WEEK_LATER });
    const answer = await askAt(TODAY, '/api/v0/orders/7');
    expect(answer).toMatchObject({ status: 410, headers: { sunset: 'Sat, 01 Feb 2025 00:00:00 GMT' } });
    expect(await gateway.metric('sundial_version_paused{api="orders",version="v0"}')).toBe(0);
  });

  it('RET-11: nor can a clock that is set back: what has no upstream has ended on any day', async () => {
    const early = at('2024-06-01T00:00:00Z');
    const answer = await askAt(early, '/api/v0/orders/7');
    expect(answer).toMatchObject({
      status: 410,
      headers: { sunset: 'Sat, 01 Feb 2025 00:00:00 GMT', 'cache-control': 'max-age=60' },
      json: { message: 'API version v0 was retired on 2025-02-01.' },
    });
    expect(answer.headers.warning).toBeUndefined();
    expect(
      await gateway.metric('sundial_version_info{api="orders",version="v0",stage="retired",successor=""}'),
    ).toBe(1);
    const { versions } = (await askAt(early, ORDERS)).json as {
      versions: readonly { readonly version: string; readonly stage: string }[];
    };
    expect(versions.find(({ version }) => version === 'v0')).toMatchObject({ stage: 'retired' });
  });

  it('STAT-1: makes known again what was forgotten', async () => {
    const ask = () => askAt(TODAY, '/quotes/7', { headers: { 'api-version': 'v1' } });
    expect(await ask()).toMatchObject({ status: 400, json: { supportedVersions: ['v2'] } });
    const id = await begin(TODAY, { api: 'quotes', until: WEEK_LATER });
    expect(await ask()).toMatchObject({
      status: 200,
      headers: { sunset: 'Fri, 27 Nov 2026 00:00:00 GMT' },
    });
    await end(id);
    expect((await ask()).status).toBe(400);
  });
});

describe('a pause across the sunset', () => {
  const OPERATION_ENDS = at('2027-02-01T00:00:00Z');
  const SUNSET = at('2027-04-15T00:00:00Z');
  const UNTIL = at('2027-04-20T12:00:00Z');

  it('SUN-2: moves it to the end of the pause, to the second', async () => {
    await begin(SUNSET - DAY, { api: 'orders', version: 'v2', until: UNTIL });
    const instants = [SUNSET - 1, SUNSET, SUNSET + 1000, UNTIL - 1000, UNTIL - 1, UNTIL, UNTIL + 1000];
    expect(await statusesAt('/api/v2/orders/7', instants)).toEqual([200, 200, 200, 200, 200, 410, 410]);
    expect((await askAt(SUNSET, '/api/v2/orders/7')).headers.sunset).toBe('Tue, 20 Apr 2027 12:00:00 GMT');
    expect((await askAt(UNTIL, '/api/v2/orders/7')).headers.sunset).toBe('Thu, 15 Apr 2027 00:00:00 GMT');
  });

  it('a consumer with a later last day of its own keeps that one', async () => {
    await begin(SUNSET, { api: 'orders', version: 'v2', until: UNTIL });
    const own = await askAt(SUNSET, '/api/v2/orders/7', {}, 'acme');
    expect(own.headers.sunset).toBe('Wed, 30 Jun 2027 00:00:00 GMT');
    expect((await askAt(SUNSET, '/api/v2/orders/7')).headers.sunset).toBe('Tue, 20 Apr 2027 12:00:00 GMT');
  });

  it('holds an operation that goes before its version, and leaves the rest of it alone', async () => {
    const until = OPERATION_ENDS + DAY;
    const search = '/api/v2/orders/search?q=x';
    expect(await statusesAt(search, [OPERATION_ENDS])).toEqual([410]);
    await begin(OPERATION_ENDS, { api: 'orders', version: 'v2', until });
    expect(await askAt(OPERATION_ENDS, search)).toMatchObject({
      status: 200,
      headers: {
        sunset: 'Tue, 02 Feb 2027 00:00:00 GMT',
        warning: expect.stringContaining('will be removed on 2027-02-02'),
      },
    });
    expect((await askAt(OPERATION_ENDS, '/api/v2/orders/7')).headers.sunset).toBe(
      'Thu, 15 Apr 2027 00:00:00 GMT',
    );
    expect(await statusesAt(search, [until - 1, until])).toEqual([200, 410]);
  });
});

describe('what is told of a pause', () => {
  const BEFORE = at('2027-01-05T00:00:00Z');
  const UNTIL = at('2027-01-06T14:05:00Z');
  const versionsOf = ({ json }: Answer) =>
    new Map((json.versions as { version: string }[]).map((entry) => [entry.version, entry]));

  it('the document has its end and no brownout within it, share and rest of the others', async () => {
    const before = versionsOf(await askAt(BEFORE, ORDERS));
    expect(before.get('v2')).toMatchObject({
      brownouts: [
        { from: '2027-01-05T14:00:00Z', until: '2027-01-05T14:15:00Z', status: 410 },
        { from: '2027-01-06T14:00:00Z', until: '2027-01-06T14:15:00Z', status: 410, share: 0.4 },
      ],
    });
    expect(before.get('v2')).not.toHaveProperty('paused_until');
    await begin(BEFORE, { api: 'orders', until: UNTIL });
    const paused = versionsOf(await askAt(BEFORE, ORDERS));
    expect(paused.get('v1')).toMatchObject({
      stage: 'deprecated',
      paused_until: '2027-01-06T14:05:00Z',
      sunset: '2027-01-06T14:05:00Z',
      next_change: { at: '2027-01-06T14:05:00Z', stage: 'retired' },
    });
    expect(paused.get('v2')).toMatchObject({
      paused_until: '2027-01-06T14:05:00Z',
      sunset: '2027-04-15T00:00:00Z',
      brownouts: [{ from: '2027-01-06T14:05:00Z', until: '2027-01-06T14:15:00Z', status: 410, share: 0.4 }],
    });
    for (const label of ['v0', 'v3']) expect(paused.get(label)).not.toHaveProperty('paused_until');
  });

  it('the page and the calendar have it too; who paused and why is told nowhere', async () => {
    await begin(BEFORE, { api: 'orders', until: UNTIL });
    const page = await askAt(BEFORE, ORDERS, { headers: { accept: 'text/html' } });
    expect(page.text).toContain(
      'Brownouts and retirement are on hold until <time datetime="2027-01-06T14:05:00Z">',
    );
    expect(page.text).toContain('for 40% of the callers');
    const calendar = await askAt(BEFORE, `${ORDERS}.ics`);
    expect(calendar.text).not.toContain('DTSTART:20270105T140000Z');
    expect(calendar.text).toContain(
      'DTSTART:20270106T140500Z\r\nDTEND:20270106T141500Z\r\nSUMMARY:orders v2 brownout for 40% of the callers',
    );
    expect(calendar.text).toMatch(/DTSTART:20270106T140500Z\r\nSUMMARY:orders v1 sunset/);
    const served = await askAt(BEFORE, '/api/v1/orders/7');
    const everything = [await askAt(BEFORE, ORDERS), page, calendar, served]
      .map(({ text, lines }) => text + JSON.stringify(lines))
      .join();
    for (const secret of [AUTHOR, REASON, 'alice', '4711']) expect(everything).not.toContain(secret);
  });

  it('CAT-3: the catalog lists what is served again', async () => {
    const listed = async () => (await askAt(TODAY, '/.well-known/api-catalog')).text;
    expect(await listed()).not.toContain('/api/v1/orders');
    await begin(TODAY, { api: 'orders', until: WEEK_LATER });
    expect(await listed()).toContain('/api/v1/orders');
    expect(await listed()).not.toContain('/api/v0/orders');
  });

  it('CACHE-6: nothing published is reused past its end', async () => {
    await begin(TODAY, { api: 'orders', until: TODAY + 90_000 });
    for (const path of [ORDERS, `${ORDERS}.ics`, '/.well-known/api-catalog'])
      expect((await askAt(TODAY + 30_500, path)).headers['cache-control']).toBe('max-age=59');
  });
});

describe('explain --paused', () => {
  it.each(['/api/v0/orders/7', '/api/v1/orders/7', '/api/v2/orders/search', '/api/v3/orders', '/quotes/7'])(
    'tells of %s what the gateway answers while it is paused',
    async (path) => {
      const forgotten = path.startsWith('/quotes');
      await begin(TODAY, { api: 'orders', until: WEEK_LATER });
      await begin(TODAY, { api: 'quotes', until: WEEK_LATER });
      const answer = await askAt(TODAY, path, forgotten ? { headers: { 'api-version': 'v1' } } : {});
      const { exitCode, text } = await runExplain({
        request: `GET ${path}`,
        headers: forgotten ? ['API-Version: v1'] : [],
        as: 'other',
        scopes: undefined,
        paused: WEEK_LATER,
        format: 'json',
        configFile: join(import.meta.dirname, 'gateway.yaml'),
        environment: {
          DATA: '/nowhere',
          STORE: 'embedded:/nowhere',
          POLICIES: join(import.meta.dirname, 'pause/*.yaml'),
          ...environment,
        },
        now: TODAY,
        today: TODAY,
        colour: false,
      });
      expect(exitCode, text).toBe(0);
      const explained: Explained = JSON.parse(text).answer;
      expect(explained.status ?? 200).toBe(answer.status);
      for (const name of ['sunset', 'deprecation', 'warning', 'link', 'x-api-deprecation-info'])
        expect(answer.headers[name]).toBe(explained.headers[name]);
    },
  );
});

it('where an API is only observed, nothing would have been refused while it is paused', async () => {
  const count = async () =>
    (await gateway.metric(
      'sundial_observed_refusals_total{api="watched",version="v1",reason="version_retired"}',
    )) ?? 0;
  const ask = () => askAt(TODAY, '/api/v1/watched');
  expect((await ask()).status).toBe(200);
  const before = await count();
  expect(before).toBeGreaterThan(0);
  await begin(TODAY, { api: 'watched', until: WEEK_LATER });
  expect((await ask()).status).toBe(200);
  expect(await count()).toBe(before);
});

describe('two gateways with one Redis', () => {
  it('a pause begun at one is in force at the other, outlives Redis, and ends on time without it', async () => {
    await using own = new AsyncDisposableStack();
    const redis = await startRedis();
    own.defer(() => redis.stop());
    let instant = TODAY;
    const start = async () =>
      own.use(
        await runGateway({
          policies: 'pause',
          lifecycleNow: () => instant,
          environment: { ...environment, STORE: redis.url, REPLICAS: '2' },
        }),
      );
    const gateways = [await start(), await start()];
    const clients = gateways.map(({ https }) => own.use(overHttp1(https)));
    const statuses = () =>
      Promise.all(
        clients.map(async (each) => {
          const headers = { authorization: tokens.get('other') ?? '' };
          return (await each.ask({ path: '/api/v1/orders/7', headers })).status;
        }),
      );
    expect(await statuses()).toEqual([301, 301]);
    const [first] = gateways;
    if (first === undefined) throw new Error('no gateway');
    await beginPause(first, { api: 'orders', version: 'v1', until: WEEK_LATER });
    // Here at once; there with the next refresh.
    expect((await statuses())[0]).toBe(200);
    await vi.waitFor(async () => expect(await statuses()).toEqual([200, 200]), { timeout: 20_000 });

    await redis.stop();
    await vi.waitFor(
      async () => {
        for (const each of gateways) expect(await each.metric('sundial_store_up{store="redis"}')).toBe(0);
      },
      { timeout: 20_000, interval: 50 },
    );
    instant = WEEK_LATER - 1;
    expect(await statuses()).toEqual([200, 200]);
    instant = WEEK_LATER;
    expect(await statuses()).toEqual([301, 301]);
  });
});
