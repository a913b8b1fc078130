// A method override that differs from the request line is refused, unless the policy keeps the field.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startEcho } from '../../upstreams/echo/echo.ts';
import { type RunningGateway, runGateway } from '../support/gateway.ts';
import { type Ask, type Client, overHttp1, overHttp2 } from '../support/http-client.ts';
import { openWebSocket } from '../support/websocket-client.ts';
import { startWebSocketUpstream, type WebSocketUpstream } from '../support/websocket-upstream.ts';

const NAMES = ['X-HTTP-Method', 'X-HTTP-Method-Override', 'X-Method-Override'];
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

const stack = new AsyncDisposableStack();
let sockets: WebSocketUpstream;
let stranger: RunningGateway;
let behindProxy: RunningGateway;
let clients: readonly (readonly [protocol: string, client: Client])[];

beforeAll(async () => {
  const echo = stack.adopt(await startEcho({ port: 0 }), (service) => service.close());
  sockets = stack.use(await startWebSocketUpstream());
  const environment = { ECHO: echo.url, ECHO_H2: echo.url, FALTERING: echo.url, SOCKETS: sockets.url };
  const run = (proxies: string) =>
    runGateway({
      config: 'client-fields/gateway.yaml',
      policies: 'client-fields/policies',
      environment: { ...environment, PROXIES: proxies },
    });
  stranger = stack.use(await run('192.0.2.0/24'));
  behindProxy = stack.use(await run('127.0.0.0/8'));
  clients = [
    ['HTTP/1.1', stack.use(overHttp1(stranger.https))],
    ['HTTP/2', stack.use(overHttp2(stranger.https))],
  ];
});
afterAll(() => stack.disposeAsync());

const another = (method: string): string => (method === 'DELETE' ? 'GET' : 'DELETE');

/** Values that name another method, in each form that some service reads. */
const differing = (method: string): readonly (string | string[])[] => {
  const other = another(method);
  return [
    ...[other, other.toLowerCase(), `${method}, ${other}`, `${other},${method}`, ` ,${other}`, `${method};x`],
    ...[`"${method}"`, `${method} ${other}`, 'x', [method, other], [other, method], ['', other]],
  ];
};

/** Values that name the method of the request, or none. */
const equal = (method: string): readonly (string | string[])[] => [
  ...[
    method,
    method.toLowerCase(),
    `${method}, ${method.toLowerCase()}`,
    '',
    `, ${method}`,
    [method, method],
  ],
];

const upstreamSaw = async (client: Client, ask: Ask): Promise<readonly (readonly [string, string])[]> => {
  const answer = await client.ask(ask);
  expect(answer.status, JSON.stringify(ask)).toBe(200);
  return (answer.json as { headers: [string, string][] }).headers;
};

describe('ORD-2: a header that names another method', () => {
  it('gets 400 over HTTP/1.1 and HTTP/2, for every method, name and spelling of the value', async () => {
    for (const [protocol, client] of clients)
      for (const method of METHODS)
        for (const name of NAMES)
          for (const value of differing(method)) {
            const what = `${protocol} ${method} ${name}: ${JSON.stringify(value)}`;
            const { status } = await client.ask({ path: '/plain', method, headers: { [name]: value } });
            expect(status, what).toBe(400);
          }
  });

  it('gets a response with the reason and without the value, and is logged', async () => {
    for (const [, client] of clients) {
      const headers = { 'x-http-method-override': 'DELETE-canary' };
      const answer = await client.ask({ path: '/plain', method: 'POST', headers, body: '{}' });
      expect(answer.json).toMatchObject({
        error: 'Bad Request',
        message:
          'The X-HTTP-Method-Override header differs from the method of the request, POST. Send the request with the intended method.',
      });
      expect(answer.text).not.toContain('canary');
      const line = await stranger.accessLine(answer.headers['x-request-id']);
      expect(line).toMatchObject({ refusal: 'method_overridden', status: 400 });
    }
  });

  it('opens no WebSocket', async () => {
    for (const name of NAMES) {
      using socket = await openWebSocket(stranger.https, '/socket', { lines: [`${name}: POST`] });
      expect(socket.status).toBe(400);
    }
    expect(sockets.seen).toEqual([]);
  });

  it('is accepted if it names the method of the request, in any case', async () => {
    for (const [, client] of clients)
      for (const method of METHODS.filter((each) => each !== 'HEAD'))
        for (const name of NAMES)
          for (const value of equal(method))
            await upstreamSaw(client, { path: '/plain', method, headers: { [name]: value } });
    const [, client] = clients[0] ?? expect.fail('no client');
    const ask = { path: '/plain', method: 'POST', headers: { 'X-HTTP-Method': 'post' } };
    expect(await upstreamSaw(client, ask)).toContainEqual(['x-http-method', 'post']);
  });

  it('is accepted if the policy keeps the field, and only that field', async () => {
    const ask = (name: string, path: string): Ask => ({
      ...{ path, method: 'POST', headers: { [name]: 'DELETE' } },
    });
    for (const [, client] of clients) {
      const seen = await upstreamSaw(client, ask('X-HTTP-Method-Override', '/kept-any'));
      expect(seen).toContainEqual(['x-http-method-override', 'DELETE']);
      expect((await client.ask(ask('X-HTTP-Method', '/kept-any'))).status).toBe(400);
      expect((await client.ask(ask('X-HTTP-Method-Override', '/kept-trusted'))).status).toBe(400);
    }
    await using proxy = overHttp1(behindProxy.https);
    await upstreamSaw(proxy, ask('X-HTTP-Method-Override', '/kept-trusted'));
    expect((await proxy.ask(ask('X-HTTP-Method-Override', '/plain'))).status).toBe(400);
  });

  it.each(['/kept-any/inner/7', '/kept-any/inner%2F7', '/kept-any/INNER/7'])(
    'VER-7: gets 400 for %s, whose API keeps the field while the nested API does not',
    async (path) => {
      for (const [, client] of clients) {
        const asked = { path, method: 'POST', headers: { 'X-HTTP-Method-Override': 'DELETE' } };
        expect((await client.ask(asked)).status).toBe(400);
        const sound = { ...asked, headers: { 'X-HTTP-Method-Override': 'POST' } };
        // Other spellings of the nested base are refused.
        if (path.endsWith('/inner/7')) await upstreamSaw(client, sound);
        else expect((await client.ask(sound)).status).toBe(400);
      }
    },
  );

  it.each(['X_HTTP_Method_Override', 'X.HTTP.Method.Override', 'x-http-method_override'])(
    'SMG-25: as %s reaches no service',
    async (name) => {
      for (const [, client] of clients) {
        const seen = await upstreamSaw(client, {
          path: '/kept-any',
          method: 'POST',
          headers: { [name]: 'DELETE' },
        });
        expect(JSON.stringify(seen)).not.toContain('DELETE');
      }
    },
  );
});
