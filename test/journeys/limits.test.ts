// Limits: of a version, lowered for a deprecated version, and the guard before all others.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startEcho } from '../../upstreams/echo/echo.ts';
import { type RunningGateway, runGateway } from '../support/gateway.ts';
import { type Client, overHttp1, overHttp2 } from '../support/http-client.ts';

const stack = new AsyncDisposableStack();
let echoUrl = '';

async function start(environment: Readonly<Record<string, string>> = {}): Promise<[RunningGateway, Client]> {
  const gateway = stack.use(
    await runGateway({ policies: 'refusals', environment: { ECHO: echoUrl, ...environment } }),
  );
  return [gateway, stack.use(overHttp1(gateway.https))];
}

beforeAll(async () => {
  const echo = stack.adopt(await startEcho({ port: 0 }), (service) => service.close());
  echoUrl = echo.url;
});
afterAll(() => stack.disposeAsync());

describe('over the limit', () => {
  it('RL-1, RL-2, RL-3: rate_limited: 429 has the same wait in header, body and RateLimit', async () => {
    const [gateway, client] = await start();
    const first = await client.ask({ path: '/api/v2/quotes' });
    expect(first).toMatchObject({
      status: 200,
      headers: {
        'x-ratelimit-limit': '60',
        'x-ratelimit-remaining': '0',
        'ratelimit-policy': '"default";q=60;w=3600',
        ratelimit: '"default";r=0;t=60',
      },
    });
    const second = await client.ask({ path: '/api/v2/quotes' });
    const wait = Number(second.headers['retry-after']);
    expect(wait).toBeGreaterThan(50);
    expect(wait).toBeLessThanOrEqual(60);
    expect(second).toMatchObject({
      status: 429,
      json: {
        error: 'Too Many Requests',
        message: `Rate limit exceeded. Retry in ${wait} seconds.`,
        retryAfter: wait,
      },
      headers: {
        'cache-control': 'no-store',
        'x-ratelimit-limit': '60',
        'x-ratelimit-remaining': '0',
        ratelimit: `"default";r=0;t=${wait}`,
        'proxy-status': 'sundial; error=http_request_error',
      },
    });
    const line = await gateway.accessLine(second.headers['x-request-id']);
    expect(line).toMatchObject({ refusal: 'rate_limited', status: 429 });
  });

  it('RL-11, DEP-7: a deprecated version has its own lower limit; its 429 names the successor', async () => {
    const [gateway, client] = await start();
    expect((await client.ask({ path: '/api/v2/quotes' })).status).toBe(200);
    const first = await client.ask({ path: '/api/v1/quotes/EURUSD' });
    expect(first).toMatchObject({
      status: 200,
      headers: { 'x-ratelimit-limit': '30', 'ratelimit-policy': '"deprecated";q=30;w=3600' },
    });
    await using second = overHttp2(gateway.https);
    const refused = await second.ask({ path: '/api/v1/quotes/EURUSD' });
    expect(refused).toMatchObject({
      status: 429,
      json: {
        retryAfter: Number(refused.headers['retry-after']),
        replacement: 'https://127.0.0.1/api/v2/quotes/EURUSD',
        migration_guide: 'https://docs.example.com/quotes/v1-to-v2',
      },
      headers: {
        deprecation: '@1768435200',
        sunset: 'Thu, 15 Apr 2027 00:00:00 GMT',
        link: '<https://docs.example.com/quotes/v1-to-v2>; rel="deprecation"; type="text/html", <https://127.0.0.1/.well-known/lifecycle/quotes>; rel="status", <https://127.0.0.1/.well-known/lifecycle/quotes>; rel="sunset", <https://127.0.0.1/api/v2/quotes/EURUSD>; rel="successor-version"',
      },
    });
    const head = await second.ask({ path: '/api/v1/quotes/EURUSD', method: 'HEAD' });
    expect(head).toMatchObject({ status: 429, headers: { 'retry-after': expect.stringMatching(/^\d+$/) } });
    expect(head.body.length).toBe(0);
  });

  it('guard_limited: an address over the guard gets 429 before route, version and token', async () => {
    const [gateway, client] = await start({ GUARD: '3/1h' });
    const paths = ['/nowhere', '/api/v2/orders', '/api/v2/quotes', '/nowhere', '/api/v2/quotes'];
    const statuses: number[] = [];
    for (const path of paths) statuses.push((await client.ask({ path })).status);
    expect(statuses).toEqual([404, 401, 200, 429, 429]);
    const refused = await client.ask({ path: '/api/v2/quotes', headers: { 'x-forwarded-for': '192.0.2.1' } });
    expect(refused).toMatchObject({
      status: 429,
      json: { error: 'Too Many Requests', retryAfter: Number(refused.headers['retry-after']) },
    });
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(1000);
    const line = await gateway.accessLine(refused.headers['x-request-id']);
    expect(line).toMatchObject({ refusal: 'guard_limited', status: 429, client: '127.0.0.1' });
  });
});
