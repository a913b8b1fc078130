// Pauses over real sockets: in force from the next request, over in their second, and not lost with the store.
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { runGateway } from '../support/gateway.ts';
import { overHttp1 } from '../support/http-client.ts';
import { beginPause } from '../support/pauses.ts';
import { startRedis } from '../support/redis-server.ts';
import { afterRetirement } from './pause/after-retirement.ts';
import { pauseInDocuments } from './pause/documents.ts';
import { at, createFixture, DAY, HOUR, TODAY, WEEK_LATER } from './pause/fixture.ts';

const fixture = createFixture();
const { askAt, authorization, begin, end, environment, gateway, statusesAt } = fixture;
beforeAll(fixture.open);
afterEach(fixture.endAll);
afterAll(fixture.close);

describe('a pause during a brownout', () => {
  const IN_WINDOW = at('2027-01-05T14:05:00Z');
  const path = '/api/v2/orders/7';

  it('lets the next request pass without a reload, and refuses again when it ends', async () => {
    expect(await statusesAt(path, [IN_WINDOW])).toEqual([410]);
    const id = await begin(IN_WINDOW, { api: 'orders', version: 'v2', until: IN_WINDOW + HOUR });
    const answer = await askAt(IN_WINDOW, path);
    expect(answer).toMatchObject({
      status: 200,
      headers: { sunset: 'Thu, 15 Apr 2027 00:00:00 GMT', deprecation: '@1768435200' },
    });
    await end(id);
    expect(await statusesAt(path, [IN_WINDOW])).toEqual([410]);
    expect(await gateway().metric('sundial_config_reloads_total{result="success"}')).toBe(0);
  });

  it('that ends within the window lets the brownout continue in its second', async () => {
    const until = IN_WINDOW + 60_000;
    await begin(IN_WINDOW, { api: 'orders', version: 'v2', until });
    expect(await statusesAt(path, [until - 1, until, until + 1000])).toEqual([200, 410, 410]);
  });

  it('of one version does not affect another', async () => {
    await begin(IN_WINDOW, { api: 'orders', version: 'v3', until: IN_WINDOW + HOUR });
    expect(await statusesAt(path, [IN_WINDOW])).toEqual([410]);
  });
});

afterRetirement(fixture);

describe('a pause across the sunset', () => {
  const OPERATION_ENDS = at('2027-02-01T00:00:00Z');
  const SUNSET = at('2027-04-15T00:00:00Z');
  const UNTIL = at('2027-04-20T12:00:00Z');

  it('SUN-2: moves the sunset to its own end, to the second', async () => {
    await begin(SUNSET - DAY, { api: 'orders', version: 'v2', until: UNTIL });
    const instants = [SUNSET - 1, SUNSET, SUNSET + 1000, UNTIL - 1000, UNTIL - 1, UNTIL, UNTIL + 1000];
    expect(await statusesAt('/api/v2/orders/7', instants)).toEqual([200, 200, 200, 200, 200, 410, 410]);
    expect((await askAt(SUNSET, '/api/v2/orders/7')).headers.sunset).toBe('Tue, 20 Apr 2027 12:00:00 GMT');
    expect((await askAt(UNTIL, '/api/v2/orders/7')).headers.sunset).toBe('Thu, 15 Apr 2027 00:00:00 GMT');
  });

  it('does not shorten the exception of a consumer', async () => {
    await begin(SUNSET, { api: 'orders', version: 'v2', until: UNTIL });
    const own = await askAt(SUNSET, '/api/v2/orders/7', {}, 'acme');
    expect(own.headers.sunset).toBe('Wed, 30 Jun 2027 00:00:00 GMT');
    expect((await askAt(SUNSET, '/api/v2/orders/7')).headers.sunset).toBe('Tue, 20 Apr 2027 12:00:00 GMT');
  });

  it('delays an operation that ends before its version, and changes no other operation', async () => {
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

pauseInDocuments(fixture);

it('an observed API counts no refusals while it is paused', async () => {
  const count = async () =>
    (await gateway().metric(
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
  it('share a pause, keep it without Redis, and end it on time', async () => {
    await using own = new AsyncDisposableStack();
    const redis = await startRedis();
    own.defer(() => redis.stop());
    let instant = TODAY;
    const start = async () =>
      own.use(
        await runGateway({
          policies: 'pause',
          lifecycleNow: () => instant,
          environment: { ...environment(), STORE: redis.url, REPLICAS: '2' },
        }),
      );
    const gateways = [await start(), await start()];
    const clients = gateways.map(({ https }) => own.use(overHttp1(https)));
    const statuses = () =>
      Promise.all(
        clients.map(async (each) => {
          const headers = { authorization: authorization('other') };
          return (await each.ask({ path: '/api/v1/orders/7', headers })).status;
        }),
      );
    expect(await statuses()).toEqual([301, 301]);
    const [first] = gateways;
    if (first === undefined) throw new Error('no gateway');
    await beginPause(first, { api: 'orders', version: 'v1', until: WEEK_LATER });
    // At this gateway at once, at the other with its next refresh.
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
