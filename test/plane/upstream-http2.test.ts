// HTTP/2 to upstreams, negotiated over TLS or with prior knowledge, under the same rules as HTTP/1.1.
import {
  constants,
  createSecureServer,
  createServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import { connect } from 'node:net';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { makeKeyPair } from '../support/key-pairs.ts';
import { type GatewayUnderTest, startGateway } from './gateway-under-test.ts';
import { get, sendRaw, until } from './raw-sockets.ts';

let pair: { readonly cert: string; readonly key: string };
let stack = new AsyncDisposableStack();
beforeAll(async () => {
  pair = await makeKeyPair({ names: ['orders.internal'] });
});
afterEach(async () => {
  await stack.disposeAsync();
  stack = new AsyncDisposableStack();
});

interface Seen {
  readonly headers: IncomingHttpHeaders;
  readonly stream: ServerHttp2Stream;
  body: string;
  /** The body ended with END_STREAM. */
  whole: boolean;
  resetWith: number | undefined;
}

interface Pairing {
  readonly gateway: GatewayUnderTest;
  readonly seen: Seen[];
  readonly sessions: Set<ServerHttp2Session>;
}

async function pairUp(tls: boolean, answer: (seen: Seen, count: number) => void): Promise<Pairing> {
  const seen: Seen[] = [];
  const sessions = new Set<ServerHttp2Session>();
  const server: Http2Server = tls ? (createSecureServer(pair) as unknown as Http2Server) : createServer();
  server.on('session', (session) => {
    sessions.add(session);
    session.on('error', () => undefined);
    session.once('close', () => sessions.delete(session));
  });
  server.on('stream', (opened, headers) => {
    const stream = opened as ServerHttp2Stream;
    const one: Seen = { headers, stream, body: '', whole: false, resetWith: undefined };
    seen.push(one);
    stream.on('error', () => undefined);
    stream.on('data', (bytes: Buffer) => {
      one.body += bytes.toString('latin1');
    });
    stream.on('end', () => {
      one.whole = !stream.aborted && stream.rstCode === 0;
    });
    stream.on('close', () => {
      one.resetWith = stream.rstCode;
    });
    answer(one, seen.length);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  stack.defer(() => {
    for (const session of sessions) session.destroy();
    return new Promise((resolve) => void server.close(() => resolve()));
  });
  const bound = server.address();
  const port = typeof bound === 'object' && bound !== null ? bound.port : 0;
  const gateway = await startGateway({
    upstream: `${tls ? 'https' : 'http'}://127.0.0.1:${port}`,
    plan: {
      http2: true,
      tls: { ca: pair.cert, cert: undefined, key: undefined, name: 'orders.internal' },
    },
    // The order of a client that requested the echo at /v1.
    order: {
      clientPlace: {
        view: { path: '/v1/echo', search: '', host: 'api.example.com' },
        ...{ tail: '', query: undefined, public: 'https://api.example.com' },
      },
    },
  });
  stack.defer(gateway.stop);
  return { gateway, seen, sessions };
}

const ok = ({ stream }: Seen): void => {
  stream.respond({ ':status': 200, 'content-type': 'text/plain', 'set-cookie': ['a=1', 'b=2'] });
  stream.end('ok');
};
const CLOSE = ['Connection: close'];

describe.each([{ tls: true }, { tls: false }])('HTTP/2 to an upstream with TLS $tls', ({ tls }) => {
  it('FWD-2, FWD-6: forwards a request without hop-by-hop fields, and its response', async () => {
    const { gateway, seen } = await pairUp(tls, ok);
    const lines = [
      'Connection: X-Secret',
      'X-Secret: 1',
      'Keep-Alive: 5',
      'TE: trailers',
      'X-Kept: 1',
      'Cookie: a=b',
    ];
    const { text, statuses } = await sendRaw(gateway.port, get('/echo?a=%2F', lines));
    expect(statuses).toEqual([200]);
    expect(text).toMatch(/\r\nset-cookie: a=1\r\nset-cookie: b=2\r\n/);
    expect(seen[0]?.headers).toMatchObject({
      ':method': 'GET',
      ':path': '/echo?a=%2F',
      ':scheme': tls ? 'https' : 'http',
      'x-kept': '1',
      cookie: 'a=b',
      via: '1.1 sundial',
    });
    for (const name of ['connection', 'keep-alive', 'te', 'x-secret', 'host', 'transfer-encoding'])
      expect(seen[0]?.headers).not.toHaveProperty(name);
  });

  it('FWD-9: URLs of the upstream in response fields become URLs of the gateway', async () => {
    const { gateway } = await pairUp(tls, ({ stream, headers }) => {
      const origin = `${headers[':scheme']}://${headers[':authority']}`;
      const link = `<${origin}/echo?page=2>; rel="next"`;
      stream.respond({ ':status': 201, location: `${origin}/echo/9`, link, 'set-cookie': 'a=1; Path=/echo' });
      stream.end();
    });
    const { text } = await sendRaw(gateway.port, get('/echo'));
    expect(text).toMatch(/\r\nlocation: https:\/\/api\.example\.com\/v1\/echo\/9\r\n/);
    expect(text).toMatch(/\r\nlink: <https:\/\/api\.example\.com\/v1\/echo\?page=2>; rel="next"\r\n/);
    expect(text).toMatch(/\r\nset-cookie: a=1; Path=\/v1\/echo\r\n/);
  });

  it('sends concurrent requests over one connection', async () => {
    const { gateway, seen, sessions } = await pairUp(tls, (one, count) => {
      if (count === 1) ok(one);
    });
    await sendRaw(gateway.port, get());
    const asked = [1, 2, 3].map(() => sendRaw(gateway.port, get()));
    await until(() => seen.length === 4);
    expect(sessions.size).toBe(1);
    for (const one of seen.slice(1)) ok(one);
    expect((await Promise.all(asked)).map(({ statuses }) => statuses)).toEqual([[200], [200], [200]]);
  });

  it.each(['POST', 'DELETE'])('FWD-20: the bytes of a %s body arrive as they were sent', async (method) => {
    const { gateway, seen } = await pairUp(tls, (one) => void one.stream.once('end', () => ok(one)));
    const chunked = '5\r\nhello\r\n3\r\n, b\r\n0\r\n\r\n';
    const answer = await sendRaw(gateway.port, get('/echo', ['Transfer-Encoding: chunked'], method, chunked));
    expect([answer.statuses, seen[0]?.body, seen[0]?.whole]).toEqual([[200], 'hello, b', true]);
  });

  it('FWD-14: trailers are not forwarded', async () => {
    const { gateway } = await pairUp(tls, ({ stream }) => {
      stream.respond({ ':status': 200 }, { waitForTrailers: true });
      stream.once('wantTrailers', () => stream.sendTrailers({ authorization: 'x' }));
      stream.end('ok');
    });
    const { text, statuses } = await sendRaw(gateway.port, get('/echo', CLOSE));
    expect(statuses).toEqual([200]);
    expect(text).not.toMatch(/authorization/);
  });

  it('FWD-13: interim responses are skipped', async () => {
    const { gateway } = await pairUp(tls, (one) => {
      one.stream.additionalHeaders({ ':status': 103, link: '</a>' });
      ok(one);
    });
    expect((await sendRaw(gateway.port, get())).statuses).toEqual([200]);
  });

  it('FWD-13: more than 100 interim responses are upstream_invalid', async () => {
    const { gateway } = await pairUp(tls, (one) => {
      for (let count = 0; count < 101; count += 1) one.stream.additionalHeaders({ ':status': 103 });
      ok(one);
    });
    expect((await sendRaw(gateway.port, get())).statuses).toEqual([502]);
    expect(gateway.facts[0]?.completion.fault?.code).toBe('upstream_invalid');
  });

  it('FWD-17: a response whose stream is reset is aborted for the client', async () => {
    const { gateway } = await pairUp(tls, ({ stream }) => {
      stream.respond({ ':status': 200 });
      stream.write('half', () => stream.destroy(new Error('broken')));
    });
    const { text, closed } = await sendRaw(gateway.port, get());
    expect([closed, text.endsWith('0\r\n\r\n')]).toEqual([true, false]);
    await until(() => gateway.outcomes.length === 1);
    expect(gateway.outcomes).toMatchObject([{ aborted: true }]);
    expect(gateway.facts[0]?.completion.fault?.code).toBe('upstream_reset');
  });

  it.each([
    ['NO_ERROR', constants.NGHTTP2_NO_ERROR],
    ['CANCEL', constants.NGHTTP2_CANCEL],
  ])('FWD-17: a body without a length that is reset with %s is not complete', async (_name, code) => {
    const { gateway } = await pairUp(tls, ({ stream }) => {
      // Without waiting for trailers, Node would send END_STREAM before the reset.
      stream.respond({ ':status': 200 }, { waitForTrailers: true });
      stream.write('half', () => stream.close(code));
    });
    const { text, closed } = await sendRaw(gateway.port, get());
    expect([closed, text.includes('half'), text.endsWith('0\r\n\r\n')]).toEqual([true, true, false]);
    await until(() => gateway.outcomes.length === 1);
    expect(gateway.outcomes).toMatchObject([{ aborted: true }]);
    expect(gateway.facts[0]?.completion.fault?.code).toBe('upstream_reset');
  });

  it.each<[string, string, (stream: ServerHttp2Stream) => void]>([
    ['ends with its head', 'GET', (stream) => stream.respond({ ':status': 204 }, { endStream: true })],
    ['answers a HEAD request', 'HEAD', (stream) => stream.respond({ ':status': 200, 'content-length': 9 })],
    [
      'has an empty body',
      'GET',
      (stream) => {
        stream.respond({ ':status': 200 });
        stream.end();
      },
    ],
    [
      'has all of its length, and is reset with NO_ERROR',
      'GET',
      (stream) => {
        stream.respond({ ':status': 200, 'content-length': 3 }, { waitForTrailers: true });
        stream.write('all', () => stream.close(constants.NGHTTP2_NO_ERROR));
      },
    ],
    [
      'ends before the request body, and is then reset with NO_ERROR',
      'POST',
      (stream) => {
        stream.respond({ ':status': 200 });
        stream.end('early', () => setImmediate(() => stream.close(constants.NGHTTP2_NO_ERROR)));
      },
    ],
  ])('a response that %s is complete', async (_what, method, answer) => {
    const { gateway } = await pairUp(tls, ({ stream }) => answer(stream));
    const body = method === 'POST' ? 'x'.repeat(20_000) : '';
    const lines = method === 'POST' ? ['Content-Length: 30000'] : ['Connection: close'];
    await sendRaw(gateway.port, get('/echo', lines, method, body));
    await until(() => gateway.outcomes.length === 1);
    expect(gateway.outcomes).toMatchObject([{ aborted: false }]);
    expect(gateway.facts[0]?.completion.fault?.code).toBeUndefined();
  });

  it.each([
    ['REFUSED_STREAM', constants.NGHTTP2_REFUSED_STREAM],
    ['INTERNAL_ERROR', constants.NGHTTP2_INTERNAL_ERROR],
    ['CANCEL', constants.NGHTTP2_CANCEL],
  ])(
    'a POST that is reset with %s before its response is upstream_reset, and runs at most once',
    async (name, code) => {
      const { gateway, seen } = await pairUp(tls, ({ stream }) => stream.close(code));
      const answer = await sendRaw(gateway.port, get('/echo', ['Content-Length: 4'], 'POST', 'body'));
      expect([answer.statuses, gateway.facts[0]?.completion.fault?.code]).toEqual([[502], 'upstream_reset']);
      if (name !== 'REFUSED_STREAM') expect(seen).toHaveLength(1);
    },
  );

  it('an upload that is reset while it is sent is upstream_reset', async () => {
    const { gateway } = await pairUp(tls, ({ stream }) => stream.close(constants.NGHTTP2_CANCEL));
    const large = `f4240\r\n${'x'.repeat(1_000_000)}\r\n0\r\n\r\n`;
    const answer = await sendRaw(gateway.port, get('/echo', ['Transfer-Encoding: chunked'], 'PUT', large));
    expect([answer.statuses, gateway.facts[0]?.completion.fault?.code]).toEqual([[502], 'upstream_reset']);
  });

  it('FWD-16: a GET whose stream was refused is retried', async () => {
    const { gateway } = await pairUp(tls, (one, count) => {
      if (count === 1) one.stream.close(constants.NGHTTP2_REFUSED_STREAM);
      else ok(one);
    });
    expect((await sendRaw(gateway.port, get())).statuses).toEqual([200]);
  });

  it('requests after a GOAWAY are served', async () => {
    const { gateway, seen } = await pairUp(tls, (one) => {
      ok(one);
      one.stream.session?.goaway();
    });
    for (const _ of [1, 2, 3]) expect((await sendRaw(gateway.port, get())).statuses).toEqual([200]);
    expect(seen).toHaveLength(3);
  });

  it('an upstream that destroys its session before the response is upstream_reset', async () => {
    const { gateway } = await pairUp(tls, ({ stream }) => stream.session?.destroy());
    const answer = await sendRaw(gateway.port, get('/echo', ['Content-Length: 4'], 'POST', 'body'));
    expect([answer.statuses, gateway.facts[0]?.completion.fault?.code]).toEqual([[502], 'upstream_reset']);
  });

  it('a request body that the client aborts is never complete at the upstream', async () => {
    const { gateway, seen } = await pairUp(tls, () => undefined);
    const client = connect(gateway.port, '127.0.0.1');
    client.write(get('/echo', ['Transfer-Encoding: chunked'], 'POST', '5\r\nhello\r\n'));
    await until(() => seen[0]?.body === 'hello');
    client.destroy();
    await until(() => seen[0]?.resetWith !== undefined);
    expect(seen[0]?.whole).toBe(false);
    expect(seen[0]?.resetWith).not.toBe(constants.NGHTTP2_NO_ERROR);
  });
});

it('an upstream over TLS that does not support HTTP/2 gets HTTP/1.1', async () => {
  const { createServer: createHttps } = await import('node:https');
  const versions: string[] = [];
  const server = createHttps(pair, (request, response) => {
    versions.push(request.httpVersion);
    response.end('ok');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  stack.defer(() => {
    server.closeAllConnections();
    return new Promise((resolve) => void server.close(() => resolve()));
  });
  const bound = server.address();
  const gateway = await startGateway({
    upstream: `https://127.0.0.1:${typeof bound === 'object' && bound !== null ? bound.port : 0}`,
    plan: { http2: true, tls: { ca: pair.cert, cert: undefined, key: undefined, name: 'orders.internal' } },
  });
  stack.defer(gateway.stop);
  expect((await sendRaw(gateway.port, get())).statuses).toEqual([200]);
  expect(versions).toEqual(['1.1']);
});
