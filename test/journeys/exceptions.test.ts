// Exceptions of one consumer from the sunset or from lowered limits, their end, and a forgotten version.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startEcho } from '../../upstreams/echo/echo.ts';
import { type RunningGateway, runGateway } from '../support/gateway.ts';
import { type Client, overHttp1 } from '../support/http-client.ts';
import { startTestIssuer } from '../support/issuer.ts';

const stack = new AsyncDisposableStack();
const DEPRECATED = Date.UTC(2026, 0, 15);
const SUNSET = Date.UTC(2027, 0, 15);
const UNTIL = Date.UTC(2027, 5, 30);
const RETIRED = Date.UTC(2027, 6, 15);
const FORGOTTEN = Date.UTC(2028, 0, 15);
let now = DEPRECATED;
let gateway: RunningGateway;
let client: Client;
const tokens = new Map<string, string>();

beforeAll(async () => {
  const echo = stack.adopt(await startEcho({ port: 0 }), (service) => service.close());
  const issuer = stack.adopt(await startTestIssuer(), (service) => service.close());
  const environment = { ECHO: echo.url, ISSUER: issuer.url };
  gateway = stack.use(await runGateway({ policies: 'exceptions', lifecycleNow: () => now, environment }));
  client = stack.use(overHttp1(gateway.https));
  for (const id of ['acme', 'bulk', 'other'])
    tokens.set(id, await issuer.sign({ client_id: id, scope: 'orders:read' }));
  tokens.set('acme without a scope', await issuer.sign({ client_id: 'acme', scope: 'none' }));
});
afterAll(() => stack.disposeAsync());

function askAt(instant: number, consumer?: string, query = '') {
  now = instant;
  const token = consumer === undefined ? undefined : tokens.get(consumer);
  return client.ask({
    path: `/api/v1/orders/7${query}`,
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
  });
}

describe('an exception from the sunset', () => {
  it('shows the consumer its own last day, before and after the sunset of the others', async () => {
    for (const instant of [SUNSET - 1, SUNSET, UNTIL - 1]) {
      expect(await askAt(instant, 'acme')).toMatchObject({
        status: 200,
        headers: {
          deprecation: '@1768435200',
          sunset: 'Wed, 30 Jun 2027 00:00:00 GMT',
          warning: expect.stringContaining('will be removed on 2027-06-30'),
        },
      });
    }
    expect((await askAt(SUNSET - 1, 'other')).headers.sunset).toBe('Fri, 15 Jan 2027 00:00:00 GMT');
  });

  it('CACHE-3: makes responses private, so that no other consumer gets them from a cache', async () => {
    const query = `?header=${encodeURIComponent('Cache-Control: public, max-age=60')}`;
    const freshness = async (instant: number, consumer: string) =>
      (await askAt(instant, consumer, query)).headers['cache-control'];
    for (const instant of [DEPRECATED, SUNSET - 60_000, SUNSET])
      expect(await freshness(instant, 'acme')).toBe('private, max-age=60');
    for (const consumer of ['bulk', 'other'])
      expect(await freshness(DEPRECATED, consumer)).toBe('private, max-age=60');
    // Every response to an identified caller is private.
    expect(await freshness(DEPRECATED - 60_000, 'acme')).toBe('private, max-age=60');
  });

  it('does not apply to other consumers: they get the 410', async () => {
    const answer = await askAt(SUNSET, 'other');
    // CACHE-3: a shared cache would send it to the consumer with the exception.
    const headers = { sunset: 'Fri, 15 Jan 2027 00:00:00 GMT', 'cache-control': 'private, max-age=60' };
    expect(answer).toMatchObject({ status: 410, headers });
    const line = await gateway.accessLine(answer.headers['x-request-id']);
    expect(line).toMatchObject({ refusal: 'version_retired', consumer: 'other', stage: 'sunset' });
  });

  it('ORD-3: makes a caller without a token get 401, as long as it lasts', async () => {
    expect((await askAt(SUNSET)).status).toBe(401);
    expect((await askAt(UNTIL - 1)).status).toBe(401);
  });

  it('ORD-3: is checked before the scopes: 410 from its end on, even without the scope', async () => {
    expect((await askAt(SUNSET, 'acme without a scope')).status).toBe(403);
    expect((await askAt(UNTIL, 'acme without a scope')).status).toBe(410);
  });

  it('ends in its second; from then on every caller gets the 410', async () => {
    expect((await askAt(UNTIL, 'acme')).status).toBe(410);
    const answer = await askAt(UNTIL);
    expect(answer).toMatchObject({ status: 410, headers: { 'cache-control': 'max-age=60' } });
    expect((await askAt(RETIRED)).status).toBe(410);
  });
});

describe('lowered limits', () => {
  const limitAt = async (instant: number, consumer: string) =>
    (await askAt(instant, consumer)).headers['x-ratelimit-limit'];
  const LAST_DAY = SUNSET - 1;

  it('RL-11: a curve falls from the deprecation instant to the sunset, in steps of a day', async () => {
    expect(await limitAt(DEPRECATED - 1, 'other')).toBe('1000');
    expect(await limitAt(DEPRECATED, 'other')).toBe('500');
    expect(await limitAt(Date.UTC(2026, 6, 16), 'other')).toBe('275');
    expect(await limitAt(LAST_DAY, 'other')).toBe('50');
  });

  it('an exception keeps the full limit until it ends', async () => {
    expect(await limitAt(DEPRECATED, 'bulk')).toBe('1000');
    expect(await limitAt(Date.UTC(2026, 11, 1) - 1, 'bulk')).toBe('1000');
    expect(Number(await limitAt(Date.UTC(2026, 11, 1), 'bulk'))).toBeLessThan(120);
  });
});

describe('a forgotten version', () => {
  it('STAT-1: gets the same 404 as a version that never existed', async () => {
    expect((await askAt(FORGOTTEN - 1)).status).toBe(410);
    const answer = await askAt(FORGOTTEN);
    expect(answer).toMatchObject({ status: 404, json: { supportedVersions: ['v2'] } });
    expect(answer.headers).not.toHaveProperty('sunset');
    const line = await gateway.accessLine(answer.headers['x-request-id']);
    expect(line).toMatchObject({ refusal: 'version_unknown' });
  });
});
