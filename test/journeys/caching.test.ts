// What caches are told: no answer is reused past the next change in the life of its version.
// And the form of errors, which is negotiated the same way as everything that Vary speaks of.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startEcho } from '../../upstreams/echo/echo.ts';
import { type RunningGateway, runGateway } from '../support/gateway.ts';
import { type Answer, type Client, type Fields, overHttp1 } from '../support/http-client.ts';

const SUNSET = Date.UTC(2027, 3, 15);
const BROWNOUT = Date.UTC(2027, 0, 5, 14);
const PROBLEM = 'application/problem+json';

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

  it('CACHE-6: of a 304 ends there as well', async () => {
    const { status, headers } = await askAt(SUNSET - 60_000, '/api/v1/orders', CACHEABLE, '&status=304');
    expect(status).toBe(304);
    expect(headers['cache-control']).toBe('public, max-age=60, s-maxage=60');
  });

  it('CACHE-6: ends where a brownout begins', async () => {
    const { headers } = await askAt(BROWNOUT - 5_000, '/api/v1/orders', CACHEABLE);
    expect(headers['cache-control']).toBe('public, max-age=5, s-maxage=5');
  });

  it('CACHE-6: is over at once in the last second', async () => {
    const { headers } = await askAt(SUNSET - 1, '/api/v1/orders', CACHEABLE);
    expect(headers['cache-control']).toBe('public, max-age=0, s-maxage=0');
  });

  it('CACHE-6: by Expires counts from the Date of the answer', async () => {
    const date = 'Fri, 20 Nov 2026 12:00:00 GMT';
    const { headers } = await askAt(SUNSET - 60_000, '/api/v1/orders', [
      `Date:${date}`,
      'Expires:Sat, 21 Nov 2026 12:00:00 GMT',
    ]);
    expect(headers.expires).toBe('Fri, 20 Nov 2026 12:01:00 GMT');
  });

  it('CACHE-6: of a deprecated version is no longer than its API lets it be, since a 304 takes nothing back', async () => {
    const { headers } = await askAt(SUNSET - 86_400_000, '/api/v1/orders', CACHEABLE);
    expect(headers['cache-control']).toBe('public, max-age=1800, s-maxage=1800');
  });

  it.each([
    ['of an active version far from any change', SUNSET - 86_400_000, '/api/v2/orders'],
    ['of a version that nothing will happen to', SUNSET - 60_000, '/api/v2/orders'],
  ])('is what the upstream says %s', async (_when, at, path) => {
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

  it('ERR-2: are problem+json for who ranks it higher, with the members of both forms', async () => {
    const { status, headers, json } = await ask({ accept: `application/json;q=0.5, ${PROBLEM}` });
    expect(status).toBe(410);
    expect(headers).toMatchObject({ 'content-type': PROBLEM, vary: 'Accept, API-Version' });
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
  ])('ERR-2: are the specification body for Accept: %s', async (accept) => {
    const { status, headers, json } = await ask(accept === undefined ? {} : { accept });
    expect(status).toBe(410);
    expect(headers).toMatchObject({ 'content-type': 'application/json; charset=utf-8', vary: 'API-Version' });
    expect(Object.keys(json)).toEqual(['error', 'message', 'migration_guide']);
  });

  it('ERR-2: have no instance where the client chose a request id that is no UUID', async () => {
    const { json } = await ask({ accept: PROBLEM, 'x-request-id': 'order-4711' }, '/nowhere');
    expect(json).toMatchObject({ title: 'Not Found', status: 404 });
    expect(json).not.toHaveProperty('instance');
  });
});
