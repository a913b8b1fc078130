// Brownouts on a moving clock begin and end in their second, without a reload and without traces afterwards.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startEcho } from '../../upstreams/echo/echo.ts';
import { type RunningGateway, runGateway } from '../support/gateway.ts';
import { type Answer, type Client, overHttp1, overHttp2 } from '../support/http-client.ts';
import { startTestIssuer } from '../support/issuer.ts';

const stack = new AsyncDisposableStack();
const BEGIN = Date.UTC(2027, 0, 5, 14);
const END = BEGIN + 15 * 60_000;
const HOUR = 3_600_000;
const clients = new Map<string, Client>();
const tokens = new Map<string, string>();
let gateway: RunningGateway;
let now = BEGIN;

beforeAll(async () => {
  const echo = stack.adopt(await startEcho({ port: 0 }), (service) => service.close());
  const issuer = stack.adopt(await startTestIssuer(), (service) => service.close());
  const environment = { ECHO: echo.url, ISSUER: issuer.url };
  gateway = stack.use(await runGateway({ policies: 'brownouts', lifecycleNow: () => now, environment }));
  clients.set('HTTP/1.1', stack.use(overHttp1(gateway.https)));
  clients.set('HTTP/2', stack.use(overHttp2(gateway.https)));
  for (const id of ['acme', ...Array.from({ length: 12 }, (_, index) => `client-${index}`)])
    tokens.set(id, `Bearer ${await issuer.sign({ client_id: id, scope: 'orders:read' })}`);
});
afterAll(() => stack.disposeAsync());

interface Asked {
  readonly path?: string;
  readonly as?: string;
  readonly method?: string;
  readonly over?: string;
}

function askAt(
  instant: number,
  { path = '/api/v1/orders/7?x=1', as, method = 'GET', over = 'HTTP/1.1' }: Asked = {},
): Promise<Answer> {
  now = instant;
  const authorization = as === undefined ? undefined : tokens.get(as);
  const client = clients.get(over);
  if (client === undefined) throw new Error(over);
  return client.ask({ path, method, headers: authorization === undefined ? {} : { authorization } });
}

const withdrawn = (version: string, api = 'orders') =>
  gateway.metric(`sundial_retired_requests_total{api="${api}",version="${version}",action="brownout"}`);

describe.each(['HTTP/1.1', 'HTTP/2'])('a dated brownout over %s', (over) => {
  const asked = { as: 'acme', over };

  it('begins and ends in its second, without a reload', async () => {
    const instants = [BEGIN - 1000, BEGIN - 1, BEGIN, BEGIN + 1000, END - 1000, END - 1, END, END + 1000];
    const statuses: number[] = [];
    for (const instant of instants) statuses.push((await askAt(instant, asked)).status);
    expect(statuses).toEqual([200, 200, 410, 410, 410, 410, 200, 200]);
    expect(await gateway.metric('sundial_config_reloads_total{result="success"}')).toBe(0);
  });

  it('RET-7, RET-8: names its end and the replacement, and is not cacheable', async () => {
    const answer = await askAt(BEGIN + 60_500, asked);
    expect(answer.status).toBe(410);
    expect(answer.json).toEqual({
      error: 'Gone',
      message:
        'API version v1 is in an announced brownout until 2027-01-05T14:15:00Z, and will be removed on 2027-04-15.',
      retryAfter: 840,
      estimatedRestoration: '2027-01-05T14:15:00Z',
      replacement: 'https://127.0.0.1/api/v2/orders/7',
      migration_guide: 'https://docs.example.com/orders/v1-to-v2',
    });
    expect(answer.headers).toMatchObject({
      'cache-control': 'no-store',
      'retry-after': '840',
      'proxy-status': 'sundial; error=proxy_internal_response',
      vary: 'Accept, API-Version',
      deprecation: '@1768435200',
      sunset: 'Thu, 15 Apr 2027 00:00:00 GMT',
      warning: expect.stringContaining('will be removed on 2027-04-15'),
      link: expect.stringMatching(
        /^<https:\/\/docs\.example\.com\/orders\/v1-to-v2>; rel="deprecation".*, <https:\/\/127\.0\.0\.1\/api\/v2\/orders\/7>; rel="successor-version"$/,
      ),
    });
    expect(answer.headers).not.toHaveProperty('x-ratelimit-limit');
  });

  it('ERR-3, RET-9: HEAD gets the headers and no body', async () => {
    const [get, head] = [await askAt(BEGIN, asked), await askAt(BEGIN, { ...asked, method: 'HEAD' })];
    expect(head).toMatchObject({
      status: 410,
      headers: {
        'content-length': String(get.body.length),
        'cache-control': 'no-store',
        'retry-after': '900',
      },
      complete: true,
    });
    expect(head.body.length).toBe(0);
  });

  it('ORD-3: is checked before authentication if no rule depends on the consumer', async () => {
    expect((await askAt(BEGIN, { over })).status).toBe(410);
    expect((await askAt(END, { over })).status).toBe(401);
  });
});

describe('brownouts', () => {
  it('are counted and logged as brownouts, with the stage of the version', async () => {
    const before = (await withdrawn('v1')) ?? 0;
    const answer = await askAt(BEGIN, { as: 'acme' });
    expect(await gateway.accessLine(answer.headers['x-request-id'])).toMatchObject({
      status: 410,
      refusal: 'brownout',
      stage: 'deprecated',
    });
    expect(await withdrawn('v1')).toBe(before + 1);
    expect(
      await gateway.metric('sundial_retired_requests_total{api="orders",version="v1",action="gone"}'),
    ).toBe(0);
  });

  it('at 02:30 local time follow the time zone, and begin at 03:00 if 02:30 is skipped', async () => {
    const status = async (text: string) =>
      (await askAt(Temporal.Instant.from(text).epochMilliseconds, { as: 'acme' })).status;
    // Standard time, then the night of the clock change.
    expect(await status('2027-03-21T01:29:59Z')).toBe(200);
    expect(await status('2027-03-21T01:30:00Z')).toBe(410);
    expect(await status('2027-03-28T00:59:59Z')).toBe(200);
    expect(await status('2027-03-28T01:00:00Z')).toBe(410);
    expect(await status('2027-03-28T01:30:00Z')).toBe(200);
  });

  it('ERR-1, ERR-5: can answer 503 with their own message, a given time before the sunset', async () => {
    const begins = Date.UTC(2027, 3, 8);
    expect((await askAt(begins - 1, { as: 'acme' })).status).toBe(200);
    expect(await askAt(begins, { as: 'acme' })).toMatchObject({
      status: 503,
      json: {
        error: 'Service Unavailable',
        message: 'Orders v1 ends next week. Move to v2 now.',
        retryAfter: 14_400,
        estimatedRestoration: '2027-04-08T04:00:00Z',
      },
      headers: { 'cache-control': 'no-store', 'retry-after': '14400' },
    });
    expect((await askAt(begins + 4 * HOUR, { as: 'acme' })).status).toBe(200);
  });

  it('end at the sunset: the version is retired then', async () => {
    const answer = await askAt(Date.UTC(2027, 3, 15), { as: 'acme' });
    expect(answer.json.message).toBe('API version v1 was retired on 2027-04-15.');
  });
});

describe('a brownout for a share of the consumers', () => {
  const path = '/api/v2/orders/7';
  const names = Array.from({ length: 12 }, (_, index) => `client-${index}`);
  const statusesAt = async (instant: number) => {
    const statuses: number[] = [];
    for (const as of names) statuses.push((await askAt(instant, { path, as })).status);
    return statuses;
  };

  it('affects the same consumers throughout the window, and no consumer after it', async () => {
    const first = await statusesAt(BEGIN);
    expect(new Set(first)).toEqual(new Set([200, 410]));
    expect(await statusesAt(BEGIN + HOUR / 2)).toEqual(first);
    expect(await statusesAt(BEGIN + HOUR - 1)).toEqual(first);
    expect(new Set(await statusesAt(BEGIN + HOUR))).toEqual(new Set([200]));
  });

  it('CACHE-3: makes responses private, so that no shared cache sends them to others', async () => {
    const cached = `${path}?header=${encodeURIComponent('Cache-Control: public, s-maxage=60, max-age=60')}`;
    const freshnessAt = async (instant: number) =>
      (await askAt(instant, { path: cached, as: 'acme' })).headers['cache-control'];
    expect(await freshnessAt(BEGIN)).toBe('private, max-age=60');
    expect(await freshnessAt(BEGIN + HOUR)).toBe('private, max-age=60');
  });

  it('ORD-3: is checked after authentication', async () => {
    expect((await askAt(BEGIN, { path })).status).toBe(401);
  });

  it('spares a consumer with an exception, even if it affects all consumers', async () => {
    const everyone = Date.UTC(2027, 1, 5, 14);
    expect((await askAt(everyone, { path, as: 'client-1' })).status).toBe(410);
    expect((await askAt(everyone, { path, as: 'acme' })).status).toBe(200);
    expect((await askAt(everyone, { path })).status).toBe(401);
  });
});

describe('operations and observed APIs', () => {
  it('a brownout of one operation names it, and affects no other operation', async () => {
    const search = await askAt(BEGIN, { path: '/api/v1/catalog/search' });
    expect(search).toMatchObject({
      status: 410,
      json: {
        message:
          'GET /search of API version v1 is in an announced brownout until 2027-01-05T15:00:00Z, and will be removed on 2027-04-15.',
      },
    });
    expect((await askAt(BEGIN, { path: '/api/v1/catalog/items' })).status).toBe(200);
    expect((await askAt(BEGIN + HOUR, { path: '/api/v1/catalog/search' })).status).toBe(200);
  });

  it('an observed API refuses nothing, and counts what it would refuse', async () => {
    const answer = await askAt(BEGIN, { path: '/api/v1/watched' });
    expect(answer).toMatchObject({ status: 200, headers: { deprecation: '@1768435200' } });
    expect(await gateway.accessLine(answer.headers['x-request-id'])).toMatchObject({
      status: 200,
      would_refuse: 'brownout',
    });
    expect(await withdrawn('v1', 'watched')).toBe(0);
    expect(
      await gateway.metric('sundial_observed_refusals_total{api="watched",version="v1",reason="brownout"}'),
    ).toBe(1);
  });
});
