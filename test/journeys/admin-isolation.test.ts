// Public listeners serve no admin page, and the metrics listener serves only its five pages.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startEcho } from '../../upstreams/echo/echo.ts';
import { operate } from '../support/command.ts';
import { type RunningGateway, runGateway } from '../support/gateway.ts';
import { type Ask, type Client, overHttp1, overHttp2 } from '../support/http-client.ts';
import { head, sendBytes } from '../support/raw-client.ts';

const stack = new AsyncDisposableStack();
const PAGES = ['/metrics', '/-/healthy', '/-/ready', '/healthz', '/readyz'];
let gateway: RunningGateway;
let token = '';
let clients: readonly Client[] = [];

beforeAll(async () => {
  const echo = stack.adopt(await startEcho({ port: 0 }), (service) => service.close());
  gateway = stack.use(
    await runGateway({
      config: 'admin-isolation/gateway.yaml',
      policies: 'admin-isolation/policies',
      environment: { ECHO: echo.url },
    }),
  );
  token = await gateway.adminToken();
  clients = [
    stack.use(overHttp1(gateway.https)),
    stack.use(overHttp2(gateway.https)),
    stack.use(overHttp1(gateway.http, { tls: false })),
  ];
});
afterAll(() => stack.disposeAsync());

/** Text that appears only in admin responses. */
const ADMIN_TEXT =
  /sundial_|nodejs_|"healthy"|"ready"|"overrides"|"documents"|There is no such page|admin token/;

it('the admin listener serves the admin pages', async () => {
  await using admin = overHttp1(gateway.admin, { tls: false });
  for (const path of [...PAGES, '/-/config', '/-/overrides']) {
    const { status, text } = await admin.ask({ path });
    expect([path, status]).toEqual([path, 200]);
    expect(text).toMatch(ADMIN_TEXT);
  }
});

describe('a public listener answers 404, over HTTP/1.1, HTTP/2 and plain HTTP, to', () => {
  const hosts = () => ({ host: `127.0.0.1:${gateway.admin}` });
  const authorised = () => ({ authorization: `Bearer ${token}` });
  const ways: readonly (readonly [name: string, ask: () => Ask])[] = [
    ...[...PAGES, '/-/config', '/-/overrides', '/-/pauses'].map((path) => [path, () => ({ path })] as const),
    ['HEAD', () => ({ method: 'HEAD', path: '/metrics' })],
    ['POST /-/reload with the token', () => ({ method: 'POST', path: '/-/reload', headers: authorised() })],
    [
      'PUT of a pin with the token',
      () => ({ method: 'PUT', path: '/-/pins/orders/acme', headers: authorised(), body: '{}' }),
    ],
    [
      'DELETE of a pause with the token',
      () => ({ method: 'DELETE', path: '/-/pauses/1', headers: authorised() }),
    ],
    ['a trailing slash', () => ({ path: '/metrics/' })],
    ['capitals', () => ({ path: '/METRICS' })],
    ['an encoded letter', () => ({ path: '/%6Detrics' })],
    ['an encoded hyphen', () => ({ path: '/%2D/ready' })],
    ['a query', () => ({ path: '/metrics?format=text' })],
    ['/metrics under an API path', () => ({ path: '/api/metrics' })],
    ['/metrics under /.well-known', () => ({ path: '/.well-known/metrics' })],
    ['the Host of the admin listener', () => ({ path: '/metrics', headers: hosts() })],
    [
      'the Host localhost with that port',
      () => ({ path: '/-/ready', headers: { host: `localhost:${gateway.admin}` } }),
    ],
    [
      'fields that name another target',
      () => ({
        path: '/',
        headers: { 'x-original-url': '/metrics', 'x-rewrite-url': '/metrics', 'x-forwarded-uri': '/metrics' },
      }),
    ],
    [
      'fields that name another host',
      () => ({
        path: '/metrics',
        headers: { forwarded: 'for=127.0.0.1;host="127.0.0.1:9901"', 'x-forwarded-host': '127.0.0.1:9901' },
      }),
    ],
    [
      'an override of the method',
      () => ({ path: '/-/reload', headers: { 'x-http-method-override': 'POST' } }),
    ],
    [
      'the admin listener as Origin',
      () => ({ path: '/-/config', headers: { origin: `http://127.0.0.1:${gateway.admin}` } }),
    ],
  ];

  it.each(ways)('%s', async (_name, ask) => {
    for (const client of clients) {
      const { status, text } = await client.ask(ask());
      expect(status).toBe(404);
      expect(text).not.toMatch(ADMIN_TEXT);
    }
  });
});

describe('a public listener also answers 404 to', () => {
  const close = 'Connection: close';
  const raw: readonly (readonly [name: string, bytes: (scheme: string) => string])[] = [
    [
      'an absolute target',
      (scheme) => head(`GET ${scheme}://127.0.0.1/metrics HTTP/1.1`, 'Host: 127.0.0.1', close),
    ],
    [
      'an absolute target with the authority of the admin listener',
      (scheme) =>
        head(
          `GET ${scheme}://127.0.0.1:${gateway.admin}/metrics HTTP/1.1`,
          `Host: 127.0.0.1:${gateway.admin}`,
          close,
        ),
    ],
    [
      'an absolute target with localhost and the port of the admin listener',
      (scheme) =>
        head(
          `GET ${scheme}://localhost:${gateway.admin}/-/ready HTTP/1.1`,
          `Host: localhost:${gateway.admin}`,
          close,
        ),
    ],
    [
      'an absolute target with http, on TLS connections too',
      () => head(`GET http://127.0.0.1:${gateway.admin}/metrics HTTP/1.1`, 'Host: 127.0.0.1', close),
    ],
    ['HTTP/1.0', () => head('GET /metrics HTTP/1.0', 'Host: 127.0.0.1', close)],
    [
      'an upgrade to HTTP/2',
      () =>
        head(
          'GET /metrics HTTP/1.1',
          'Host: 127.0.0.1',
          'Connection: Upgrade, HTTP2-Settings, close',
          'Upgrade: h2c',
          'HTTP2-Settings: AAMAAABkAAQAAP__',
        ),
    ],
    [
      'a WebSocket handshake',
      () =>
        head(
          'GET /-/ready HTTP/1.1',
          'Host: 127.0.0.1',
          'Connection: Upgrade',
          'Upgrade: websocket',
          'Sec-WebSocket-Version: 13',
          'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
        ),
    ],
    [
      'a pipelined request',
      () =>
        `${head('GET /metrics HTTP/1.1', 'Host: 127.0.0.1')}${head('GET /metrics HTTP/1.1', 'Host: 127.0.0.1', close)}`,
    ],
  ];

  it.each(raw)('%s', async (_name, bytes) => {
    for (const [port, tls] of [
      [gateway.https, true],
      [gateway.http, false],
    ] as const) {
      const { status, text } = await sendBytes(port, bytes(tls ? 'https' : 'http'), { tls });
      expect(status).toBe(404);
      expect(text).not.toMatch(ADMIN_TEXT);
    }
  });
});

describe('a public listener refuses ambiguous requests', () => {
  const lines = ['Host: 127.0.0.1', 'Connection: close'];
  const malformed: readonly (readonly [status: number, first: string, more: readonly string[]])[] = [
    [400, 'GET /api/../metrics HTTP/1.1', lines],
    [400, 'GET /api/v1/orders/%2e%2e/%2e%2e/%2e%2e/metrics HTTP/1.1', lines],
    [400, 'GET /./metrics HTTP/1.1', lines],
    [400, 'GET /api/v1/orders/..;/..;/..;/metrics HTTP/1.1', lines],
    [400, 'GET //metrics HTTP/1.1', lines],
    [400, 'GET ///-/ready HTTP/1.1', lines],
    [400, 'GET \\metrics HTTP/1.1', lines],
    [400, 'GET metrics HTTP/1.1', lines],
    [400, 'GET /metrics#x HTTP/1.1', lines],
    [400, 'GET /metrics HTTP/1.1', ['Host: 127.0.0.1', ...lines]],
    [421, 'GET /metrics HTTP/1.1', ['Host: evil.example', 'Connection: close']],
  ];

  it.each(malformed)('%i: %s', async (status, first, more) => {
    const answer = await sendBytes(gateway.https, head(first, ...more));
    expect(answer.status).toBe(status);
    expect(answer.text).not.toMatch(ADMIN_TEXT);
  });
});

it('a public listener refuses CONNECT to the admin listener', async () => {
  const first = `CONNECT 127.0.0.1:${gateway.admin} HTTP/1.1`;
  const bytes = head(first, 'Host: 127.0.0.1', 'Connection: close');
  const { status, text } = await sendBytes(gateway.http, bytes, { tls: false });
  expect(status).toBeGreaterThanOrEqual(400);
  expect(text).not.toMatch(ADMIN_TEXT);
});

describe('the metrics listener', () => {
  const ask = async (asked: Ask) => {
    await using client = overHttp1(gateway.metrics, { tls: false });
    return await client.ask(asked);
  };

  it.each(PAGES)('serves %s without a token', async (path) => {
    expect((await ask({ path })).status).toBe(200);
    expect(await ask({ path, method: 'HEAD' })).toMatchObject({ status: 200, text: '' });
  });

  it.each(['/-/config', '/-/overrides', '/-/pins/orders/acme', '/', '/metrics/', '//metrics', '/-/ready/x'])(
    'answers 404 to %s, with or without the token',
    async (path) => {
      const headers = { authorization: `Bearer ${token}` };
      for (const asked of [{ path }, { path, headers }]) {
        const { status, json } = await ask(asked);
        expect(status).toBe(404);
        expect(json).toEqual({
          error: 'Not Found',
          message: 'There is no such page. Known pages: /metrics, /-/healthy, /-/ready.',
        });
      }
    },
  );

  it.each(['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'])('answers 405 to %s', async (method) => {
    for (const path of PAGES) {
      const { status, headers, lines } = await ask({
        method,
        path,
        headers: { authorization: `Bearer ${token}` },
      });
      expect([path, status, headers.allow]).toEqual([path, 405, 'GET, HEAD']);
      expect(lines.filter(([name]) => name.startsWith('access-control'))).toEqual([]);
    }
    expect((await ask({ method, path: '/-/reload' })).status).toBe(404);
  });

  it('answers 421 to a foreign Host on loopback', async () => {
    expect((await ask({ path: '/metrics', headers: { host: 'evil.example' } })).status).toBe(421);
  });

  it('answers to any Host without a token if it is not on loopback', async () => {
    await using exposed = await runGateway({
      config: 'admin-isolation/gateway.yaml',
      policies: 'admin-isolation/policies',
      environment: { ECHO: 'http://127.0.0.1:9', METRICS: '0.0.0.0:0' },
    });
    await using client = overHttp1(exposed.metrics, { tls: false });
    const asked = PAGES.map((path) => client.ask({ path, headers: { host: 'gateway.monitoring.svc:9902' } }));
    expect((await Promise.all(asked)).map(({ status }) => status)).toEqual(PAGES.map(() => 200));
    expect((await client.ask({ path: '/-/config' })).status).toBe(404);
    // The admin listener of the same gateway still refuses other hosts.
    await using admin = overHttp1(exposed.admin, { tls: false });
    expect(
      (await admin.ask({ path: '/metrics', headers: { host: 'gateway.monitoring.svc:9902' } })).status,
    ).toBe(421);
  });

  it('serves `sundial status` without a token', async () => {
    expect(await operate(['status', '--admin', `http://127.0.0.1:${gateway.metrics}`])).toEqual({
      exitCode: 0,
      stdout: expect.stringMatching(
        new RegExp(
          `^ready: store embedded up, plan [0-9a-f]{12}, at http://127\\.0\\.0\\.1:${gateway.metrics}\\n$`,
        ),
      ),
      stderr: '',
    });
  });
});
