// Freshness of responses, which ends at the next change of their version, and error formats by Accept.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startEcho } from '../../upstreams/echo/echo.ts';
import { type RunningGateway, runGateway } from '../support/gateway.ts';
import { type Answer, type Client, type Fields, overHttp1 } from '../support/http-client.ts';

const SUNSET = Date.UTC(2027, 3, 15);
const V3_SUNSET = Date.UTC(2030, 0, 1);
const BROWNOUT = Date.UTC(2027, 0, 5, 14);
const PROBLEM = 'application/problem+json';
const VARY = 'Accept, API-Version';

const stack = new AsyncDisposableStack();
let gateway: RunningGateway;
let client: Client;
let now = SUNSET;

beforeAll(async () => {
  const echo = stack.adopt(await startEcho({ port: 0 }), (service) => service.close());
  const environment = { ECHO: echo.url };
  gateway = stack.use(await runGateway({ policies: 'caching', lifecycleNow: () => now, environment }));
  client = stack.use(overHttp1(gateway.https));
});
afterAll(() => stack.disposeAsync());

function askAt(at: number, path: string, fields: readonly string[], more = ''): Promise<Answer> {
  now = at;
  const query = fields.map((field) => `header=${encodeURIComponent(field)}`).join('&');
  return client.ask({ path: `${path}?${query}${more}` });
}

describe('freshness', () => {
  const CACHEABLE = ['Cache-Control:public, max-age=3600, s-maxage=7200'];

  it('CACHE-6, SUN-4: ends at the sunset', async () => {
    const { status, headers } = await askAt(SUNSET - 60_000, '/api/v1/orders', CACHEABLE);
    expect(status).toBe(200);
    expect(headers['cache-control']).toBe('public, max-age=60, s-maxage=60');
  });

  it('CACHE-6: of a 304 ends at the sunset too', async () => {
    const { status, headers } = await askAt(SUNSET - 60_000, '/api/v1/orders', CACHEABLE, '&status=304');
    expect(status).toBe(304);
    expect(headers['cache-control']).toBe('public, max-age=60, s-maxage=60');
  });

  it('CACHE-6: ends when a brownout begins', async () => {
    const { headers } = await askAt(BROWNOUT - 5_000, '/api/v1/orders', CACHEABLE);
    expect(headers['cache-control']).toBe('public, max-age=5, s-maxage=5');
  });

  it('CACHE-6: is zero in the last second before the sunset', async () => {
    const { headers } = await askAt(SUNSET - 1, '/api/v1/orders', CACHEABLE);
    expect(headers['cache-control']).toBe('public, max-age=0, s-maxage=0');
  });

  const at = (ms: number) => new Date(ms).toUTCString();
  const DAY = 86_400_000;

  it('CACHE-6: in Expires is counted from the Date of the response', async () => {
    const sent = Date.now() - 3 * DAY;
    const fields = [`Date:${at(sent)}`, `Expires:${at(sent + DAY)}`];
    const { headers } = await askAt(SUNSET - 60_000, '/api/v1/orders', fields);
    expect(headers.expires).toBe(at(sent + 60_000));
  });

  it('CACHE-6: in Expires is counted from now if Date is in the future', async () => {
    const fields = [`Date:${at(Date.now() + DAY)}`, `Expires:${at(Date.now() + 30 * DAY)}`];
    const { headers } = await askAt(SUNSET - 60_000, '/api/v1/orders', fields);
    expect(Date.parse(headers.expires ?? '') - Date.now()).toBeLessThanOrEqual(60_000);
  });

  it('CACHE-6: of a deprecated version has the maximum that its API sets', async () => {
    const { headers } = await askAt(SUNSET - 86_400_000, '/api/v1/orders', CACHEABLE);
    expect(headers['cache-control']).toBe('public, max-age=1800, s-maxage=1800');
  });

  const dated = (daysAgo: number) => `Last-Modified:${at(Date.now() - daysAgo * DAY)}`;

  // v2 never changes, v3 only at its sunset: no brownout and no maximum age limits it.
  it.each<[what: string, left: number, fields: readonly string[], more: string, out: string | undefined]>([
    ['no Last-Modified, an hour before the change', 3_600, [], '', 'max-age=3600'],
    ['status 301 and no Last-Modified', 3_600, [], '&status=301', 'max-age=3600'],
    ['no Last-Modified, a day before the change', 86_400, [], '', undefined],
    ['a status that is not cacheable by default', 3_600, [], '&status=302', undefined],
    [
      'such a status and Cache-Control: public',
      3_600,
      ['Cache-Control:public'],
      '&status=302',
      'public, max-age=3600',
    ],
    ['Last-Modified 20 days ago, a day before the change', 86_400, [dated(20)], '', 'max-age=86400'],
    ['Last-Modified 20 days ago, three days before', 259_200, [dated(20)], '', undefined],
    ['Last-Modified an hour ago', 3_600, [dated(1 / 24)], '', undefined],
    ['an invalid Last-Modified', 3_600, ['Last-Modified:2020'], '', 'max-age=3600'],
    [
      'a lifetime only for shared caches',
      3_600,
      ['Cache-Control:s-maxage=60'],
      '',
      's-maxage=60, max-age=3600',
    ],
    [
      'stale-if-error, two days before the change',
      172_800,
      ['Cache-Control:stale-if-error=172800'],
      '',
      'stale-if-error=86400',
    ],
    ['blanks around the equals sign', 3_600, ['Cache-Control:max-age = 1'], '', 'max-age=1'],
    ['max-age in a string', 3_600, ['Cache-Control:ext="max-age=1"'], '', 'ext="max-age=1", max-age=3600'],
    ['Expires', 3_600, ['Expires:0'], '', undefined],
    ['no-store', 3_600, ['Cache-Control:no-store'], '', 'no-store'],
    ['no-cache', 3_600, ['Cache-Control:no-cache'], '', 'no-cache'],
    [
      'no-cache with and without a field',
      3_600,
      ['Cache-Control:no-cache="A", no-cache'],
      '',
      'no-cache="A", no-cache, max-age=3600',
    ],
    ['status 304', 3_600, [], '&status=304', 'max-age=3600'],
  ])('CACHE-6: of a response with %s', async (_what, left, fields, more, out) => {
    const answer = await askAt(V3_SUNSET - left * 1_000, '/api/v3/orders', fields, more);
    expect(answer.headers['cache-control']).toBe(out);
  });

  it('CACHE-6: of a 304 follows from the If-Modified-Since of the cache', async () => {
    now = V3_SUNSET - 259_200_000;
    const ask = async (since: string) =>
      (await client.ask({ path: '/api/v3/orders?status=304', headers: { 'if-modified-since': since } }))
        .headers;
    expect((await ask('Sat, 01 Jan 2000 00:00:00 GMT'))['cache-control']).toBe('max-age=259200');
    expect((await ask(new Date().toUTCString()))['cache-control']).toBeUndefined();
  });

  it('CACHE-6: is not added to the response of an unsafe method', async () => {
    now = V3_SUNSET - 3_600_000;
    const { status, headers } = await client.ask({ path: '/api/v3/orders', method: 'POST' });
    expect([status, headers['cache-control']]).toEqual([200, undefined]);
  });

  it.each([
    ['max-age = 7200', 'max-age=3600'],
    ['max-age\t=\t"7200"', 'max-age=3600'],
    ['max-age=60, stale-while-revalidate = 7200', 'max-age=60, stale-while-revalidate=3540'],
  ])('CACHE-6: is read with blanks around the equals sign: %s', async (written, out) => {
    const { headers } = await askAt(V3_SUNSET - 3_600_000, '/api/v3/orders', [`Cache-Control:${written}`]);
    expect(headers['cache-control']).toBe(out);
  });

  it.each([
    ['an active version', SUNSET - 86_400_000, '/api/v2/orders'],
    ['an active version while another ends', SUNSET - 60_000, '/api/v2/orders'],
  ])('is unchanged for %s', async (_when, at, path) => {
    expect((await askAt(at, path, CACHEABLE)).headers['cache-control']).toBe(
      'public, max-age=3600, s-maxage=7200',
    );
  });
});

describe('errors', () => {
  const ask = (headers: Fields, path = '/api/v0/orders/7'): Promise<Answer> => {
    now = SUNSET;
    return client.ask({ path, headers });
  };

  it('ERR-2, CACHE-2: are problem+json with the members of both forms if Accept prefers it', async () => {
    const { status, headers, json } = await ask({ accept: `application/json;q=0.5, ${PROBLEM}` });
    expect(status).toBe(410);
    expect(headers).toMatchObject({ 'content-type': PROBLEM, vary: VARY });
    expect(json).toEqual({
      type: 'about:blank',
      title: 'Gone',
      status: 410,
      detail: 'API version v0 was retired on 2026-02-01.',
      instance: `urn:uuid:${headers['x-request-id']}`,
      error: 'Gone',
      message: 'API version v0 was retired on 2026-02-01.',
      migration_guide: 'https://docs.example.com/orders',
    });
  });

  it.each([
    undefined,
    '*/*',
    'application/*',
    'application/json',
    `${PROBLEM};q=0.9, application/json`,
    `${PROBLEM};q=0, */*`,
    `${PROBLEM};=, application/json`,
    'image/png',
  ])('ERR-2, CACHE-2: are the specification body for Accept: %s, with the same Vary', async (accept) => {
    const { status, headers, json } = await ask(accept === undefined ? {} : { accept });
    expect(status).toBe(410);
    expect(headers).toMatchObject({ 'content-type': 'application/json; charset=utf-8', vary: VARY });
    expect(Object.keys(json)).toEqual(['error', 'message', 'migration_guide']);
  });

  it('ERR-2: have no instance if the request id of the client is not a UUID', async () => {
    const { json } = await ask({ accept: PROBLEM, 'x-request-id': 'order-4711' }, '/nowhere');
    expect(json).toMatchObject({ title: 'Not Found', status: 404 });
    expect(json).not.toHaveProperty('instance');
  });
});
