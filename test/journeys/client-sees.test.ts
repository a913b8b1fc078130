// Clients get the status and fields of an upstream, without those that end at the gateway, plus the policy's.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startEcho } from '../../upstreams/echo/echo.ts';
import { runGateway } from '../support/gateway.ts';
import { type Client, overHttp1, overHttp2 } from '../support/http-client.ts';
import { startRawUpstream } from '../support/raw-upstream.ts';

const stack = new AsyncDisposableStack();
const clients = new Map<string, Client>();

const ANSWERS: Readonly<Record<string, string>> = {
  '/bytes/hop':
    'HTTP/1.1 200 OK\r\nConnection: X-Secret, keep-alive\r\nX-Secret: 1\r\nKeep-Alive: timeout=9\r\nX-Kept: 1\r\nContent-Length: 2\r\n\r\nok',
  '/bytes/none': 'HTTP/1.1 204 No Content\r\nContent-Length: 0\r\nX-Kept: 1\r\n\r\n',
  '/bytes/early':
    'HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok',
  '/bytes/odd': 'HTTP/1.1 599 Whatever\r\nContent-Length: 3\r\n\r\nodd',
  '/bytes/head': 'HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n',
  '/bytes/dated':
    'HTTP/1.1 200 OK\r\nDate: Tue, 15 Nov 1994 08:12:31 GMT\r\nAge: 7\r\nServer: fred\r\nContent-Location: /a;v=1\r\nAccept-Ranges: bytes\r\nContent-Length: 2\r\n\r\nok',
  '/bytes/behind':
    'HTTP/1.1 503 Busy\r\nCache-Status: far; hit\r\nProxy-Status: far; error=dns_error\r\nContent-Length: 2\r\n\r\nok',
  '/bytes/tagged':
    'HTTP/1.1 200 OK\r\nETag: "abc"\r\nLast-Modified: Tue, 15 Nov 1994 08:12:31 GMT\r\nContent-Length: 2\r\n\r\nok',
  '/bytes/part':
    'HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 1-2/5\r\nETag: "abc"\r\nContent-Length: 2\r\n\r\nel',
  '/bytes/own':
    'HTTP/1.1 200 OK\r\nDeprecation: @1\r\nSunset: Fri, 15 Jan 2027 00:00:00 GMT\r\nLink: </own>; rel="self"\r\nContent-Length: 2\r\n\r\nok',
  '/bytes/twice':
    'HTTP/1.1 200 OK\r\nDeprecation: @1\r\nDeprecation: @1\r\nSunset: tomorrow\r\nLink: </own>; rel="self"\r\nContent-Length: 2\r\n\r\nok',
  '/bytes/broken': 'HTTP/1.1 200 OK\r\nDeprecation: @1\r\nTransfer-Encoding: gzip\r\n\r\n',
};

beforeAll(async () => {
  const echo = stack.adopt(await startEcho({ port: 0 }), (service) => service.close());
  const upstream = stack.use(
    await startRawUpstream(
      (target, socket) => void socket.write(ANSWERS[target] ?? ANSWERS['/bytes/odd'] ?? ''),
    ),
  );
  const gateway = stack.use(
    await runGateway({ policies: 'bytes', environment: { ECHO: echo.url, BYTES: upstream.url } }),
  );
  clients.set('HTTP/1.1', stack.use(overHttp1(gateway.https)));
  clients.set('HTTP/2', stack.use(overHttp2(gateway.https)));
});
afterAll(() => stack.disposeAsync());

const LINKS = [
  '<https://docs.example.com/orders/v1-to-v2>; rel="deprecation"; type="text/html"',
  '<https://status.example.com/orders-v1>; rel="status"',
  '<https://127.0.0.1/.well-known/lifecycle/orders>; rel="sunset"',
  '<https://127.0.0.1/api/v2/orders>; rel="successor-version"',
].join(', ');
const TOLD_LINKS = [
  '<https://docs.example.com/told>; rel="deprecation"; type="text/html"',
  '<https://127.0.0.1/.well-known/lifecycle/told>; rel="status"',
  '<https://127.0.0.1/.well-known/lifecycle/told>; rel="sunset"',
].join(', ');
const WARNING =
  '299 - "Version v1 is deprecated and will be removed on 2027-04-15; see https://docs.example.com/orders/v1-to-v2"';
const SIGNALS = {
  deprecation: '@1768435200',
  sunset: 'Thu, 15 Apr 2027 00:00:00 GMT',
  link: LINKS,
  warning: WARNING,
  'x-api-deprecation-info': 'https://status.example.com/orders-v1',
  'x-ratelimit-limit': '100000',
};

describe.each(['HTTP/1.1', 'HTTP/2'])('over %s a client gets', (protocol) => {
  const ask: Client['ask'] = (asked) =>
    clients.get(protocol)?.ask(asked) ?? Promise.reject(new Error(protocol));
  const told = (...fields: readonly string[]) =>
    `/api/v1/orders?${fields.map((field) => `header=${encodeURIComponent(field)}`).join('&')}`;

  it.each([200, 201, 400, 404, 409, 422, 500, 503])(
    'DEP-7, ERR-6: status %i of the upstream with its body and every signal',
    async (status) => {
      const answer = await ask({ path: `/api/v1/orders?status=${status}` });
      expect(answer.status).toBe(status);
      expect(answer.json).toMatchObject({ method: 'GET', target: `/echo?status=${status}` });
      expect(answer.headers).toMatchObject(SIGNALS);
      expect(answer.headers).not.toHaveProperty('proxy-status');
    },
  );

  it.each(['POST', 'PUT', 'PATCH', 'DELETE'])(
    'CACHE-7: the unchanged status of a %s, which caches on the way need',
    async (method) => {
      for (const status of [200, 201, 204, 303, 412]) {
        const body = method === 'DELETE' ? {} : { body: '{}' };
        const answer = await ask({ path: `/api/v1/orders?status=${status}`, method, ...body });
        expect(answer.status).toBe(status);
      }
    },
  );

  it('C304-2: 304 with its validators and every signal, without a body', async () => {
    const path = `${told('ETag: "abc"', 'Cache-Control: max-age=60')}&status=304`;
    const answer = await ask({ path, headers: { 'if-none-match': '"abc"' } });
    expect(answer).toMatchObject({ status: 304, complete: true });
    expect(answer.headers).toMatchObject({
      ...SIGNALS,
      etag: '"abc"',
      'cache-control': 'max-age=60',
      vary: 'Acme-Version',
    });
    expect(answer.headers).not.toHaveProperty('content-type');
    expect(answer.headers).not.toHaveProperty('content-length');
    expect(answer.body.length).toBe(0);
  });

  it('HEAD-1: the headers of GET with length and signals, and no body', async () => {
    const signalled = await ask({ path: '/api/v1/orders', method: 'HEAD' });
    expect(signalled).toMatchObject({ status: 200, headers: SIGNALS, complete: true });
    expect(signalled.body.length).toBe(0);
    const large = await ask({ path: '/api/v2/orders/head', method: 'HEAD' });
    expect(large).toMatchObject({ status: 200, headers: { 'content-length': '5000' }, complete: true });
    expect(large.body.length).toBe(0);
  });

  it('DEP-2, SUN-3, LNK-1, WARN-4, RL-5: each signal once, whatever the upstream sends', async () => {
    const own = [
      'Deprecation: true',
      'Sunset: tomorrow',
      'Link: </own>; rel="self"',
      'Warning: 299 - "own"',
      'X-RateLimit-Limit: 9',
      'X-RateLimit-Reset: 9',
      'RateLimit-Policy: "default";q=9;w=1',
      'RateLimit: limit=9, remaining=1',
    ];
    const answer = await ask({ path: told(...own) });
    expect(answer.headers).toMatchObject({
      ...SIGNALS,
      link: `</own>; rel="self", ${LINKS}`,
      warning: `299 - "own", ${WARNING}`,
    });
    expect(answer.headers).not.toHaveProperty('x-ratelimit-reset');
    expect(answer.headers['ratelimit-policy']).toMatch(
      /^"upstream:default";q=9;w=1, "default";q=100000;w=\d+$/,
    );
    expect(answer.headers.ratelimit).toMatch(/^"default";r=\d+;t=1$/);
    for (const name of Object.keys(SIGNALS))
      expect(answer.lines.filter(([each]) => each === name)).toHaveLength(1);
  });

  it.each([
    [
      'two valid lines, which stay',
      'own',
      200,
      '@1',
      'Fri, 15 Jan 2027 00:00:00 GMT',
      '</own>; rel="self", ',
    ],
    [
      'a repeated and an invalid line, which are dropped',
      'twice',
      200,
      SIGNALS.deprecation,
      SIGNALS.sunset,
      '</own>; rel="self", ',
    ],
    ['a response that cannot be forwarded', 'broken', 502, SIGNALS.deprecation, SIGNALS.sunset, ''],
  ])(
    'DEP-2, SUN-3: one line of each, if the upstream takes precedence and sends %s',
    async (_what, path, status, deprecation, sunset, links) => {
      const answer = await ask({ path: `/api/v1/told/${path}` });
      const told = { deprecation, sunset, link: links + TOLD_LINKS };
      expect(answer.status).toBe(status);
      expect(answer.headers).toMatchObject(told);
      for (const name of Object.keys(told))
        expect(answer.lines.filter(([each]) => each === name)).toHaveLength(1);
    },
  );

  it('FWD-5: every cookie in its own field line, in order', async () => {
    const cookies = Array.from(
      { length: 20 },
      (_, index) => `c${index}=${index}; Expires=Wed, 01 Jan 2031 00:00:00 GMT`,
    );
    const answer = await ask({ path: told(...cookies.map((cookie) => `Set-Cookie: ${cookie}`)) });
    expect(answer.lines.filter(([name]) => name === 'set-cookie').map(([, value]) => value)).toEqual(cookies);
  });

  it('CACHE-2, TLS-6: one Vary, and one Strict-Transport-Security, not that of the upstream', async () => {
    const answer = await ask({
      path: told('Vary: Accept, ACME-version', 'Strict-Transport-Security: max-age=1'),
    });
    expect(answer.headers).toMatchObject({
      vary: 'Accept, ACME-version',
      'strict-transport-security': 'max-age=86400',
    });
    expect((await ask({ path: told('Vary: *') })).headers.vary).toBe('*');
    expect((await ask({ path: '/api/v1/orders' })).headers.vary).toBe('Acme-Version');
  });

  it('FWD-3: no connection-specific field of the upstream', async () => {
    const answer = await ask({ path: '/api/v2/orders/hop' });
    expect(answer).toMatchObject({ status: 200, text: 'ok', headers: { 'x-kept': '1' } });
    for (const name of ['x-secret', 'upgrade', 'trailer']) expect(answer.headers).not.toHaveProperty(name);
    expect(answer.headers['keep-alive'] ?? '').not.toContain('timeout=9');
  });

  it('SMG-23: 204 without Content-Length', async () => {
    const answer = await ask({ path: '/api/v2/orders/none' });
    expect(answer).toMatchObject({ status: 204, headers: { 'x-kept': '1' }, complete: true });
    expect(answer.headers).not.toHaveProperty('content-length');
  });

  it('FWD-4: an unknown status, and the final response after an early hint', async () => {
    expect(await ask({ path: '/api/v2/orders/odd' })).toMatchObject({ status: 599, text: 'odd' });
    expect(await ask({ path: '/api/v2/orders/early' })).toMatchObject({ status: 200, text: 'ok' });
  });

  it('FWD-9, CACHE-1: Date, Age and Server of the upstream; without them, a new Date only', async () => {
    const answer = await ask({ path: '/api/v2/orders/dated' });
    expect(answer.headers).toMatchObject({
      date: 'Tue, 15 Nov 1994 08:12:31 GMT',
      age: '7',
      server: 'fred',
      'content-location': '/a;v=1',
      'accept-ranges': 'bytes',
    });
    const undated = await ask({ path: '/api/v2/orders/hop' });
    expect(Date.now() - Date.parse(undated.headers.date ?? '')).toBeLessThan(60_000);
    for (const name of ['age', 'server', 'cache-status', 'proxy-status'])
      expect(undated.headers).not.toHaveProperty(name);
  });

  it('CST-1, PXS-2: Cache-Status and Proxy-Status of the upstream only', async () => {
    const answer = await ask({ path: '/api/v2/orders/behind' });
    expect(answer).toMatchObject({
      status: 503,
      text: 'ok',
      headers: { 'cache-status': 'far; hit', 'proxy-status': 'far; error=dns_error' },
    });
  });

  it.each([
    ['If-None-Match with its tag', { 'if-none-match': '"abc"' }],
    ['If-None-Match: *', { 'if-none-match': '*' }],
    ['If-Match with another tag', { 'if-match': '"other"' }],
    ['If-Modified-Since in the future', { 'if-modified-since': 'Fri, 01 Jan 2038 00:00:00 GMT' }],
    ['If-Unmodified-Since in the past', { 'if-unmodified-since': 'Sat, 01 Jan 1994 00:00:00 GMT' }],
    ['a range beyond its end', { range: 'bytes=900-', 'if-range': '"abc"' }],
  ])('C304-1: the whole response if the upstream ignores %s', async (_what, headers) => {
    const answer = await ask({ path: '/api/v2/orders/tagged', headers });
    expect(answer).toMatchObject({ status: 200, text: 'ok', headers: { etag: '"abc"' } });
  });

  it('RNG-1: a partial response as the upstream sent it', async () => {
    const answer = await ask({ path: '/api/v2/orders/part', headers: { range: 'bytes=1-2' } });
    expect(answer).toMatchObject({ status: 206, text: 'el', headers: { 'content-range': 'bytes 1-2/5' } });
  });
});
