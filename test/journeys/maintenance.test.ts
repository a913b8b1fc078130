// `maintenance` in a policy: 503 until its instant in real time, before every check that needs the service.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningGateway, runGateway } from '../support/gateway.ts';
import { type Client, overHttp1, overHttp2 } from '../support/http-client.ts';

const stack = new AsyncDisposableStack();
/** Half an hour from now, on the second. */
const until = Math.ceil(Date.now() / 1000) * 1000 + 1_800_000;
const UNTIL = Temporal.Instant.fromEpochMilliseconds(until).toString();
let gateway: RunningGateway;
const clients = new Map<string, Client>();

beforeAll(async () => {
  gateway = stack.use(await runGateway({ policies: 'maintenance', environment: { UNTIL } }));
  clients.set('HTTP/1.1', stack.use(overHttp1(gateway.https)));
  clients.set('HTTP/2', stack.use(overHttp2(gateway.https)));
});
afterAll(() => stack.disposeAsync());

describe.each(['HTTP/1.1', 'HTTP/2'])('over %s', (protocol) => {
  const ask: Client['ask'] = (asked) =>
    clients.get(protocol)?.ask(asked) ?? Promise.reject(new Error(protocol));

  it.each([
    ['a version', '/api/v1/orders/7'],
    ['an operation', '/api/v2/orders/search'],
    ['an observed API', '/api/watched'],
  ])(
    'FWD-18, ERR-5: %s in maintenance gets 503 with Retry-After and estimatedRestoration',
    async (_what, path) => {
      const answer = await ask({ path });
      const seconds = Number(answer.headers['retry-after']);
      expect(answer.status).toBe(503);
      expect(seconds).toBeGreaterThan(1_700);
      expect(seconds).toBeLessThanOrEqual(1_801);
      expect(answer.json).toEqual({
        error: 'Service Unavailable',
        message: 'This service is down for maintenance.',
        retryAfter: seconds,
        estimatedRestoration: UNTIL,
      });
      expect(answer.headers).toMatchObject({
        'cache-control': 'no-store',
        'proxy-status': 'sundial; error=destination_unavailable',
      });
      const line = await gateway.accessLine(answer.headers['x-request-id']);
      expect(line).toMatchObject({ refusal: 'maintenance', status: 503 });
    },
  );

  it('DEP-1: a deprecated version sends its signals in maintenance too', async () => {
    const { headers } = await ask({ path: '/api/v1/orders/7' });
    expect(headers).toMatchObject({ deprecation: '@1768435200', sunset: 'Fri, 15 Jan 2027 00:00:00 GMT' });
  });

  it.each([
    ['a version that has ended gets 410', '/api/v0/orders', 410],
    ['another operation still needs its token', '/api/v2/orders', 401],
  ])('%s', async (_what, path, status) => {
    expect((await ask({ path })).status).toBe(status);
  });

  it('ORD-4: a preflight gets 204', async () => {
    const answer = await ask({
      path: '/api/v1/orders/7',
      method: 'OPTIONS',
      headers: { origin: 'https://app.example.com', 'access-control-request-method': 'PUT' },
    });
    expect(answer.status).toBe(204);
  });

  it('the lifecycle page has the end of the maintenance', async () => {
    const { json } = await ask({ path: '/.well-known/lifecycle/orders' });
    expect(json).toMatchObject({
      versions: [{ version: 'v0' }, { maintenance_until: UNTIL }, { version: 'v2' }],
    });
  });
});

describe('a maintenance whose end has passed', () => {
  it('does not refuse requests', async () => {
    await using over = await runGateway({
      policies: 'maintenance',
      environment: { UNTIL: '2026-11-01T06:00:00Z' },
    });
    await using client = overHttp1(over.https);
    expect((await client.ask({ path: '/api/v1/orders/7' })).status).toBe(401);
    expect((await client.ask({ path: '/api/watched' })).status).toBe(502);
  });
});
