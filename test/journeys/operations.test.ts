// Operations with rules of their own: earlier dates, other limits and callers, successors per resource.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startEcho } from '../../upstreams/echo/echo.ts';
import { type RunningGateway, runGateway } from '../support/gateway.ts';
import { type Answer, type Client, overHttp1 } from '../support/http-client.ts';
import { startTestIssuer } from '../support/issuer.ts';

const stack = new AsyncDisposableStack();
const DEPRECATED = Date.UTC(2026, 5, 1);
const SUNSET = Date.UTC(2027, 5, 15);
const MOVED = Date.UTC(2026, 11, 15);
let now = DEPRECATED;
let gateway: RunningGateway;
let client: Client;
let authorization = '';

beforeAll(async () => {
  const echo = stack.adopt(await startEcho({ port: 0 }), (service) => service.close());
  const issuer = stack.adopt(await startTestIssuer(), (service) => service.close());
  const environment = { ECHO: echo.url, ISSUER: issuer.url };
  gateway = stack.use(await runGateway({ policies: 'operations', lifecycleNow: () => now, environment }));
  client = stack.use(overHttp1(gateway.https));
  authorization = `Bearer ${await issuer.sign()}`;
});
afterAll(() => stack.disposeAsync());

interface Request {
  readonly method?: string;
  readonly token?: boolean;
  readonly version?: string;
}

function askAt(instant: number, path: string, { method = 'GET', token = true, version }: Request = {}) {
  now = instant;
  const headers = {
    ...(token && { authorization }),
    ...(version !== undefined && { 'api-version': version }),
  };
  return client.ask({ path, method, headers });
}

describe('an operation that ends before its version', () => {
  it('is active until its deprecation, then sends its own dates and its own lower limit', async () => {
    const before = await askAt(DEPRECATED - 1, '/api/v2/orders/search?q=1');
    expect(before).toMatchObject({ status: 200, headers: { 'x-ratelimit-limit': '1000' } });
    expect(before.headers).not.toHaveProperty('deprecation');
    expect(await askAt(DEPRECATED, '/api/v2/orders/search?q=1')).toMatchObject({
      status: 200,
      headers: {
        deprecation: '@1780272000',
        sunset: 'Tue, 15 Jun 2027 00:00:00 GMT',
        link: expect.stringMatching(
          /^<https:\/\/docs\.example\.com\/orders\/search>; rel="deprecation".*, <https:\/\/127\.0\.0\.1\/api\/v2\/orders>; rel="successor-version", <https:\/\/127\.0\.0\.1\/api\/v1\/orders\/search>; rel="predecessor-version"$/,
        ),
        warning:
          '299 - "GET /search of version v2 is deprecated and will be removed on 2027-06-15; see https://docs.example.com/orders/search"',
        'ratelimit-policy': '"deprecated";q=30;w=60',
      },
    });
  });

  it('does not change the rest of its version', async () => {
    const answer = await askAt(DEPRECATED, '/api/v2/orders/7');
    expect(answer).toMatchObject({ status: 200, headers: { 'x-ratelimit-limit': '1000' } });
    expect(answer.headers).not.toHaveProperty('deprecation');
  });

  it.each<[string, string, Request]>([
    ['HEAD', '/api/v2/orders/search', { method: 'HEAD' }],
    ['a final slash', '/api/v2/orders/search/', {}],
    ['an encoded letter', '/api/v2/orders/s%65arch', {}],
    ['the version in a header', '/api/orders/search', { version: '2' }],
  ])('is the same operation by %s', async (_, path, request) => {
    expect((await askAt(DEPRECATED, path, request)).headers.deprecation).toBe('@1780272000');
  });

  it('VER-7: gets 400 for a path with an empty segment', async () => {
    expect(await askAt(DEPRECATED, '/api/v2/orders//search')).toMatchObject({ status: 400 });
  });

  it('does not include another method', async () => {
    expect(
      (await askAt(DEPRECATED, '/api/v2/orders/search', { method: 'OPTIONS' })).headers,
    ).not.toHaveProperty('deprecation');
  });

  it('ORD-3, RET-11: gets 410 from its sunset on, without a token too', async () => {
    expect((await askAt(SUNSET - 1, '/api/v2/orders/search')).status).toBe(200);
    const answer = await askAt(SUNSET, '/api/v2/orders/search', { token: false });
    expect(answer).toMatchObject({
      status: 410,
      json: {
        message: 'GET /search of API version v2 was retired on 2027-06-15.',
        replacement: 'https://127.0.0.1/api/v2/orders',
        migration_guide: 'https://docs.example.com/orders/search',
      },
      headers: { deprecation: '@1780272000', sunset: 'Tue, 15 Jun 2027 00:00:00 GMT' },
    });
    const line = await gateway.accessLine(answer.headers['x-request-id']);
    expect(line).toMatchObject({ operation: 'GET /search', stage: 'retired', refusal: 'version_retired' });
    expect((await askAt(SUNSET, '/api/v2/orders/7')).status).toBe(200);
  });

  it('counts its calls under the name in the policy', async () => {
    const series =
      'sundial_deprecated_operation_requests_total{api="orders",version="v2",operation="GET /search"}';
    const before = (await gateway.metric(series)) ?? 0;
    const answer = await askAt(DEPRECATED, '/api/v2/orders/search?q=2');
    await gateway.accessLine(answer.headers['x-request-id']);
    expect(await gateway.metric(series)).toBe(before + 1);
  });
});

describe('the successor of an operation', () => {
  const PATH = '/api/v1/orders/of/a%20b/7%2F8?x=1&x=2';

  it('LNK-2: contains the values of the path as the client encoded them, without the query', async () => {
    expect((await askAt(MOVED - 1, PATH)).headers.link).toContain(
      '<https://127.0.0.1/api/v2/orders/customers/a%20b/orders/7%2F8>; rel="successor-version"',
    );
  });

  it('RET-1, RET-2: is the target of the redirect, with the query', async () => {
    const answer = await askAt(MOVED, PATH, { token: false });
    expect(answer).toMatchObject({
      status: 301,
      headers: { location: 'https://127.0.0.1/api/v2/orders/customers/a%20b/orders/7%2F8?x=1&x=2' },
    });
    const line = await gateway.accessLine(answer.headers['x-request-id']);
    expect(line).toMatchObject({ refusal: 'version_moved', operation: 'GET /of/{customer}/{id}' });
  });

  it('RET-5: is not a redirect target while a header still names the old version', async () => {
    const answer: Answer = await askAt(MOVED, '/api/orders/of/a/7', { version: '1' });
    expect(answer.status).toBe(410);
    expect(answer.json.replacement).toBe('https://127.0.0.1/api/v2/orders/customers/a/orders/7');
  });

  it('is that of the version for an operation without its own', async () => {
    expect((await askAt(MOVED, '/api/v1/orders/7')).headers.link).toContain(
      '<https://127.0.0.1/api/v2/orders/7>; rel="successor-version"',
    );
  });
});

describe('access to an operation', () => {
  it('is open if the operation is public in a protected API', async () => {
    expect((await askAt(DEPRECATED, '/api/v2/orders/status', { token: false })).status).toBe(200);
    expect((await askAt(DEPRECATED, '/api/v2/orders/7', { token: false })).status).toBe(401);
  });

  it('needs the scopes of the operation instead of those of the API', async () => {
    const answer = await askAt(DEPRECATED, '/api/v2/orders/refunds', { method: 'POST' });
    expect(answer).toMatchObject({
      status: 403,
      json: { message: 'The access token lacks a scope: orders:refund.' },
    });
  });
});
