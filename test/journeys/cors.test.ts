// CORS: preflights, and what pages may read of responses, the echoed version included.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startEcho } from '../../upstreams/echo/echo.ts';
import { type RunningGateway, runGateway } from '../support/gateway.ts';
import { type Answer, type Client, type Fields, overHttp1 } from '../support/http-client.ts';
import { startTestIssuer } from '../support/issuer.ts';

const PAGE = 'https://app.example.com';
const EXPOSED =
  'Deprecation, Sunset, Link, Warning, X-API-Deprecation-Info, ETag, Location, Retry-After, RateLimit, RateLimit-Policy, Idempotency-Replayed, X-RateLimit-Limit, X-RateLimit-Remaining';

const stack = new AsyncDisposableStack();
let gateway: RunningGateway;
let client: Client;
let authorization: string;

beforeAll(async () => {
  const echo = stack.adopt(await startEcho({ port: 0 }), (service) => service.close());
  const issuer = stack.adopt(await startTestIssuer(), (service) => service.close());
  const environment = { ECHO: echo.url, ISSUER: issuer.url };
  gateway = stack.use(await runGateway({ policies: 'cors', environment }));
  client = stack.use(overHttp1(gateway.https));
  authorization = `Bearer ${await issuer.sign({ client_id: 'acme' })}`;
});
afterAll(() => stack.disposeAsync());

function preflight(path: string, headers: Fields = {}): Promise<Answer> {
  const asked = { origin: PAGE, 'access-control-request-method': 'GET', ...headers };
  return client.ask({ path, method: 'OPTIONS', headers: asked });
}

describe('a preflight', () => {
  it.each([
    ['active and protected', '/api/v2/orders/7'],
    ['deprecated', '/api/v1/orders/7'],
    ['retired', '/api/v0/orders/7'],
    ['missing, at the base', '/api/orders/7'],
    ['unknown', '/api/v9/orders/7'],
  ])(
    'ORD-4: gets 204 without a token, version check, 410 or quota if the version is %s',
    async (_what, path) => {
      const { status, text, headers } = await preflight(path, {
        'access-control-request-headers': 'authorization,api-version,If-None-Match,x-evil',
      });
      expect({ status, text }).toEqual({ status: 204, text: '' });
      expect(headers).toMatchObject({
        'access-control-allow-origin': PAGE,
        'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS',
        'access-control-allow-headers': 'authorization, api-version, if-none-match',
        'access-control-max-age': '600',
        vary: 'Access-Control-Request-Method, Access-Control-Request-Headers, API-Version, Origin',
      });
      for (const name of [
        'deprecation',
        'sunset',
        'x-ratelimit-remaining',
        'access-control-allow-credentials',
      ])
        expect(headers).not.toHaveProperty(name);
      const line = await gateway.accessLine(headers['x-request-id']);
      expect(line).toMatchObject({ api: 'orders', status: 204 });
      expect(line).not.toHaveProperty('refusal');
    },
  );

  it.each(['https://evil.example', 'https://app.example.com.evil.example', 'http://app.example.com', 'null'])(
    'gets 204 without CORS fields for the origin %s',
    async (origin) => {
      const { status, headers } = await preflight('/api/v2/orders', { origin });
      expect(status).toBe(204);
      expect(headers.vary).toContain('Origin');
      expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
    },
  );

  it('needs Origin and a method; any other OPTIONS is handled as a normal request', async () => {
    const { status } = await client.ask({
      path: '/api/v2/orders',
      method: 'OPTIONS',
      headers: { origin: PAGE },
    });
    expect(status).toBe(401);
  });

  it('is forwarded to the upstream if the policy has no `cors`', async () => {
    const { status, json, headers } = await preflight('/closed');
    expect(status).toBe(200);
    expect(json).toMatchObject({ method: 'OPTIONS' });
    expect(headers).not.toHaveProperty('access-control-allow-origin');
  });
});

describe('a response', () => {
  it('ORD-5: names its origin and the exposed headers, also for refusals', async () => {
    const asks: readonly [number, string, Fields][] = [
      [200, '/api/v1/orders/7', { authorization }],
      [429, '/api/v1/orders/7', { authorization }],
      [401, '/api/v2/orders/7', {}],
      [410, '/api/v0/orders/7', {}],
      [404, '/api/v9/orders/7', {}],
    ];
    for (const [status, path, headers] of asks) {
      const answer = await client.ask({ path, headers: { origin: PAGE, ...headers } });
      expect(answer.status).toBe(status);
      expect(answer.headers['access-control-allow-origin']).toBe(PAGE);
      expect(answer.headers['access-control-expose-headers']?.startsWith(EXPOSED)).toBe(true);
      expect(answer.headers.vary?.split(', ')).toContain('Origin');
    }
  });

  it.each([{}, { origin: 'https://evil.example' }])(
    'varies by Origin and allows no origin for %o',
    async (headers: Fields) => {
      const answer = await client.ask({ path: '/api/v0/orders', headers });
      expect(answer.headers.vary).toBe('Accept, API-Version, Origin');
      expect(answer.headers).not.toHaveProperty('access-control-allow-origin');
      expect(answer.headers).not.toHaveProperty('access-control-expose-headers');
    },
  );

  it('allows every origin without credentials if the policy says "*"', async () => {
    const said = [
      'Access-Control-Allow-Origin:https://old.example',
      'Access-Control-Allow-Credentials:true',
      'Access-Control-Expose-Headers:X-Total, ETag',
    ];
    const query = said.map((line) => `header=${encodeURIComponent(line)}`).join('&');
    const { headers } = await client.ask({ path: `/open?${query}` });
    expect(headers['access-control-allow-origin']).toBe('*');
    expect(headers).not.toHaveProperty('access-control-allow-credentials');
    expect(headers['access-control-expose-headers']).toBe(`${EXPOSED}, X-Request-ID, X-Total`);
    expect(headers).not.toHaveProperty('vary');
  });
});

describe('the echo of versions', () => {
  it('VER-6: names the requested and the served version, and the stage', async () => {
    const { headers } = await client.ask({ path: '/api/v1/orders', headers: { 'api-version': '1' } });
    expect(headers).toMatchObject({
      'x-api-version-requested': 'v1, 1',
      'x-api-version-served': 'v1',
      'x-api-lifecycle-stage': 'deprecated',
    });
  });

  it('names the requested version if it does not exist', async () => {
    const { status, headers } = await client.ask({
      path: '/api/orders',
      headers: { 'api-version': `9${'é'.repeat(90)}` },
    });
    expect(status).toBe(400);
    expect(headers['x-api-version-requested']).toBe(`9${'?'.repeat(63)}`);
    expect(headers).not.toHaveProperty('x-api-version-served');
  });

  it('is absent if the API switches it off', async () => {
    const { headers } = await client.ask({ path: '/open' });
    expect(Object.keys(headers).filter((name) => name.startsWith('x-api-'))).toEqual([]);
  });
});
