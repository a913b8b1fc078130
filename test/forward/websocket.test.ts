// WebSockets between real sockets: what the upstream is asked, what of its answer is believed, how an end reaches the other side.
import { connect } from 'node:net';
import { afterAll, describe, expect, it, vi } from 'vitest';
import type { Ending } from '../../gateway/exchange/held-service.ts';
import { type GatewayOptions, type GatewayUnderTest, startGateway } from '../server/gateway-under-test.ts';
import { get, sendRaw, startUpstream, until } from '../server/raw-sockets.ts';
import { makeCertificate, startUntrustedUpstream } from '../support/untrusted-upstream.ts';
import { HANDSHAKE, type Opening, openWebSocket, type WebSocketClient } from '../support/websocket-client.ts';
import { BINARY, CLOSE, closeCode, frame, TEXT } from '../support/websocket-frames.ts';
import { LARGE, startWebSocketUpstream, type WebSocketUpstream } from '../support/websocket-upstream.ts';

// Kept to the end: each test has an upstream and a gateway of its own, and several of them wait at the same time.
const stack = new AsyncDisposableStack();
afterAll(() => stack.disposeAsync());

interface Pair {
  readonly upstream: WebSocketUpstream;
  readonly gateway: GatewayUnderTest;
  readonly open: (path: string, opening?: Opening) => Promise<WebSocketClient>;
}

async function pair(options: GatewayOptions = {}): Promise<Pair> {
  const upstream = stack.use(await startWebSocketUpstream());
  const gateway = stack.adopt(
    await startGateway({ upstream: upstream.url, plan: { timeouts: PATIENT }, ...options }),
    (started) => started.stop(),
  );
  const open: Pair['open'] = async (path, opening) =>
    stack.use(
      await openWebSocket(gateway.port, path, {
        tls: options.tls ?? false,
        host: 'api.example.com',
        ...opening,
      }),
    );
  return { upstream, gateway, open };
}

/** For what is not about time. */
const PATIENT = { connect: 5_000, headers: 20_000, idle: 20_000, total: 60_000 };
const STALLING = { connect: 1_000, headers: 1_000, idle: 500, total: 5_000 };

/** Nothing is left of any WebSocket, on either side. */
const isIdle = ({ listener, websockets }: GatewayUnderTest): boolean =>
  listener.connections() === 0 && [...websockets.services()].length === 0;

describe.concurrent.each([{ tls: false }, { tls: true }])(
  'WS-3: over a listener with TLS $tls',
  (options) => {
    it('becomes a WebSocket after the 101 of the upstream, and carries frames both ways', async () => {
      const { upstream, gateway, open } = await pair(options);
      const client = await open('/echo/live?a=%2F&b=1');
      expect(client.status).toBe(101);
      expect(client.headers).toMatchObject({
        connection: 'Upgrade',
        upgrade: 'websocket',
        'sec-websocket-accept': 's3pPLMBiTxaQ9kYGzzhZRbK+xOo=',
        'sec-websocket-protocol': 'chat',
        'x-own': 'a, b',
        via: '1.1 sundial',
      });
      client.send('hello');
      const [answer] = await client.received(1);
      expect(answer).toMatchObject({ opcode: TEXT, masked: false });
      expect(answer?.payload.toString()).toBe('hello');
      expect(upstream.seen[0]).toMatchObject({ target: '/echo/live?a=%2F&b=1', frames: [{ masked: true }] });
      expect(gateway.outcomes).toMatchObject([{ status: 101, aborted: false, protocol: 'HTTP/1.1' }]);
    });
  },
);

describe.concurrent('what the upstream is asked', () => {
  it('VER-9, FWD-1, WS-3: the fields of any request, with the upgrade of this hop', async () => {
    const { upstream, gateway, open } = await pair({ removeHeaders: ['x-version'] });
    const lines = [
      'Origin: https://app.example.com',
      'Sec-WebSocket-Protocol: chat, superchat',
      'Sec-WebSocket-Extensions: permessage-deflate',
      'Authorization: Bearer t',
      'X-Version: 3',
      'API-Version: v7',
      'X-Forwarded-For: 6.6.6.6',
      'X-Real-IP: 6.6.6.6',
      'Keep-Alive: 5',
      'TE: trailers',
    ];
    await open('/echo', { lines });
    expect(upstream.seen[0]?.headers).toEqual({
      host: upstream.url.slice('http://'.length),
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
      'sec-websocket-protocol': 'chat, superchat',
      'sec-websocket-extensions': 'permessage-deflate',
      origin: 'https://app.example.com',
      authorization: 'Bearer t',
      'api-version': 'v1',
      via: '1.1 sundial',
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-proto': 'http',
      'x-forwarded-host': 'api.example.com',
      'x-request-id': gateway.views[0]?.requestId,
    });
  });

  it.each(['/echo/a//b', '/echo/%7Euser/%e4', "/echo/a;b='c'?", '/echo?q=a+b&&c={}|^`'])(
    'ORD-2: the bytes that were judged: %s',
    async (path) => {
      const { upstream, gateway, open } = await pair();
      await open(path);
      const view = gateway.views[0];
      expect(upstream.seen[0]?.target).toBe(`${view?.path}${view?.search}`);
    },
  );

  it('FWD-1: a field with the name of something every object has is one line, as it came', async () => {
    const { upstream, open } = await pair();
    await open('/echo', { lines: ['Constructor: mine', 'ToString: mine'] });
    expect(upstream.seen[0]?.headers).toMatchObject({ constructor: 'mine', tostring: 'mine' });
  });

  it('what was sent together with the handshake arrives after the switch', async () => {
    const { open } = await pair();
    const client = await open('/echo', { behind: frame(TEXT, 'early', true) });
    const [answer] = await client.received(1);
    expect(answer?.payload.toString()).toBe('early');
  });

  it('WS-3: the accept key reaches the client though the upstream calls it a field of its own hop', async () => {
    const { open } = await pair();
    const client = await open('/echo/nominating');
    expect(client).toMatchObject({
      status: 101,
      headers: { connection: 'Upgrade', 'sec-websocket-accept': 's3pPLMBiTxaQ9kYGzzhZRbK+xOo=' },
    });
  });

  it('behind another request it waits for its turn', async () => {
    const { upstream, gateway } = await pair();
    const socket = stack.adopt(connect(gateway.port, '127.0.0.1'), (each) => void each.destroy());
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
    });
    socket.write(get('/echo/first') + get('/echo/second', HANDSHAKE));
    await until(() => text.includes('101 Switching'));
    expect(text).toMatch(/^HTTP\/1\.1 200 OK[\s\S]*plain[\s\S]*HTTP\/1\.1 101 Switching Protocols/);
    socket.write(frame(TEXT, 'still', true));
    await until(() => text.endsWith('still'));
    expect(gateway.outcomes.map(({ status }) => status)).toEqual([200, 101]);
    expect([upstream.requests, upstream.seen.length]).toEqual([['/echo/first'], 1]);
  });
});

describe.concurrent('WS-3: an upstream that does not switch', () => {
  it('has its answer relayed, decorated, and nothing behind the handshake reaches it', async () => {
    const { upstream, gateway, open } = await pair();
    const client = await open('/echo/forbidden', { behind: get('/echo/canary') });
    await client.ended();
    expect(client.status).toBe(403);
    expect(client.headers).toMatchObject({ deprecation: '@1', 'x-own': '1', connection: 'close' });
    expect(client.body()).toBe('no');
    expect(upstream.seen).toHaveLength(1);
    expect(upstream.requests).toEqual([]);
    await until(() => gateway.outcomes.length === 1);
    expect(gateway.outcomes).toMatchObject([{ status: 403, bytes: 2, aborted: false }]);
  });

  it('FWD-3: a long answer comes whole, in our own framing', async () => {
    const { gateway, open } = await pair();
    const client = await open('/echo/chunked');
    await client.ended();
    expect(client.headers).toMatchObject({ 'transfer-encoding': 'chunked', connection: 'close' });
    expect(client.headers).not.toHaveProperty('x-hop');
    expect(client.body().endsWith('\r\n0\r\n\r\n')).toBe(true);
    expect(gateway.outcomes).toMatchObject([{ status: 200, bytes: LARGE, aborted: false }]);
  });

  it('FWD-17: an answer that breaks off never looks whole', async () => {
    const { gateway, open } = await pair();
    const client = await open('/echo/short');
    await client.ended();
    expect([client.headers['content-length'], client.body()]).toEqual(['9', 'half']);
    await until(() => gateway.outcomes.length === 1);
    expect(gateway.outcomes).toMatchObject([{ status: 200, aborted: true }]);
    expect(gateway.facts).toMatchObject([{ fault: 'upstream_reset' }]);
  });

  it.each([
    ['upstream_invalid', 'unaccepted'],
    ['upstream_invalid', 'bare'],
    ['upstream_invalid', 'another'],
    ['upstream_invalid', 'unnamed'],
    ['upstream_invalid', 'outdated'],
    ['upstream_invalid', 'garbage'],
    ['upstream_reset', 'reset'],
  ])('%s: a 101 that is none, and worse: %s', async (fault, how) => {
    const { upstream, gateway, open } = await pair();
    const client = await open(`/echo/${how}`, { behind: frame(TEXT, 'canary', true) });
    await client.ended();
    expect([client.status, JSON.parse(client.body())]).toEqual([502, { error: fault }]);
    expect(client.headers).toMatchObject({ connection: 'close' });
    await until(() => upstream.seen[0]?.ended === true);
    expect(gateway.outcomes).toMatchObject([{ status: 502, aborted: false }]);
  });

  it('upstream_headers_timeout: is given up in time', async () => {
    const timeouts = { connect: 1_000, headers: 100, idle: 1_000, total: 5_000 };
    const { upstream, open } = await pair({ plan: { timeouts } });
    const client = await open('/echo/silent');
    expect([client.status, JSON.parse(client.body())]).toEqual([504, { error: 'upstream_headers_timeout' }]);
    await until(() => upstream.seen[0]?.ended === true);
  });

  it('upstream_refused: there is nobody', async () => {
    const { open } = await pair({ upstream: 'http://127.0.0.1:1' });
    const client = await open('/echo');
    expect([client.status, JSON.parse(client.body())]).toEqual([502, { error: 'upstream_refused' }]);
  });

  it('FWD-19, upstream_tls: a certificate nobody vouches for never sees a handshake', async () => {
    const untrusted = stack.use(await startUntrustedUpstream());
    const { open } = await pair({ upstream: untrusted.url });
    const client = await open('/echo');
    expect([client.status, JSON.parse(client.body())]).toEqual([502, { error: 'upstream_tls' }]);
    expect(untrusted.requests).toBe(0);
  });

  it('FWD-19: over TLS to an upstream that is vouched for, it switches', async () => {
    const certificate = await makeCertificate();
    const upstream = stack.use(await startWebSocketUpstream(certificate));
    const { open } = await pair({ upstream: upstream.url, ca: certificate.cert });
    const client = await open('/echo');
    expect(client.status).toBe(101);
    client.send('hello');
    expect(await client.received(1)).toHaveLength(1);
    expect(upstream.seen).toHaveLength(1);
  });

  it('FWD-7, upstream_loop: one that leads back here', async () => {
    const { upstream, open } = await pair();
    const client = await open('/echo', { lines: [`Via: ${Array(4).fill('1.1 sundial').join(', ')}`] });
    expect([client.status, JSON.parse(client.body())]).toEqual([502, { error: 'upstream_loop' }]);
    expect(upstream.seen).toHaveLength(0);
  });
});

describe.concurrent('the end of one side reaches the other', () => {
  const ends: readonly [string, (client: WebSocketClient) => unknown][] = [
    ['ends', ({ socket }) => socket.end()],
    ['is gone', ({ socket }) => socket.destroy()],
    ['resets', ({ socket }) => socket.resetAndDestroy()],
  ];

  it.each([true, false])(
    'a client that ends behind its Close frame still gets the answer to it (TLS: %s)',
    async (tls) => {
      const { gateway, open } = await pair({ tls });
      const client = await open('/echo');
      client.socket.end(frame(CLOSE, Buffer.from([3, 232]), true));
      const [answer] = await client.received(1);
      expect([answer?.opcode, answer?.payload.toString('hex')]).toEqual([CLOSE, '03e8']);
      await until(() => isIdle(gateway));
    },
  );

  it.each(ends)('a client that %s closes the upstream', async (_how, leave) => {
    const { upstream, gateway, open } = await pair();
    const client = await open('/echo');
    leave(client);
    await until(() => upstream.seen[0]?.ended === true && isIdle(gateway));
  });

  it('an upstream that does not end when its client has is cut', async () => {
    const { gateway, open } = await pair();
    const client = await open('/echo/deaf');
    client.socket.end();
    await until(() => isIdle(gateway));
  });

  it('a client that leaves before the upstream has answered ends the call', async () => {
    const { upstream, gateway } = await pair();
    const socket = connect(gateway.port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write(get('/echo/silent', HANDSHAKE));
    await until(() => upstream.seen.length === 1);
    socket.end();
    await until(() => upstream.seen[0]?.ended === true && gateway.outcomes.length === 1);
    expect(gateway.outcomes).toMatchObject([{ status: 499, aborted: true }]);
  });

  it('a client that has ended its side while it was judged is not connected to anybody', async () => {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    const { gateway } = await pair({
      decide: ({ path }) => (path === '/echo/held' ? promise : { reason: 'route_unknown' }),
    });
    const socket = connect({ port: gateway.port, host: '127.0.0.1', allowHalfOpen: true });
    stack.defer(() => void socket.destroy());
    socket.end(get('/echo/held', HANDSHAKE));
    await until(() => gateway.views.length === 1);
    // What came before this request has been read when it is answered, the end above included.
    await sendRaw(gateway.port, get('/nothing'));
    resolve(undefined);
    await until(() => gateway.outcomes.some(({ status }) => status === 499) && isIdle(gateway));
  });

  it.each(['destroy', 'resetAndDestroy', 'end'] as const)(
    'promise 48: an upstream that dies (%s) ends the client, and the gateway lives on',
    async (how) => {
      const { upstream, gateway, open } = await pair();
      const client = await open('/echo');
      upstream.seen[0]?.socket[how]();
      await client.ended();
      await until(() => isIdle(gateway));
      expect((await open('/echo')).status).toBe(101);
    },
  );

  it.each(['upstream', 'client'])(
    'promise 21: what the %s does not take is not read, and after the idle time-out the tunnel is cut',
    async (slow) => {
      const timeouts = { connect: 1_000, headers: 1_000, idle: 1_500, total: 5_000 };
      const { upstream, gateway, open } = await pair({ plan: { timeouts } });
      const client = await open('/echo/deaf');
      const { socket } = upstream.seen[0] ?? client;
      if (slow === 'client') client.socket.pause();
      const chunk = frame(BINARY, Buffer.alloc(1024 * 1024), slow === 'upstream');
      let taken = 0;
      for (let sent = 0; sent < 64; sent += 1)
        (slow === 'upstream' ? client.socket : socket).write(chunk, () => {
          taken += 1;
        });
      let [last, still] = [0, 0];
      await until(() => {
        still = taken === last ? still + 1 : 0;
        last = taken;
        return taken > 0 && still > 50;
      });
      expect(taken).toBeLessThan(32);
      await vi.waitFor(() => expect(isIdle(gateway)).toBe(true), { timeout: 20_000 });
    },
  );

  it('a quiet one outlives that, and every deadline of a request', async () => {
    const bounds = { headersMs: 300, requestMs: 300, idleMs: 300, unreadMs: 300 };
    const { gateway, open } = await pair({ plan: { timeouts: STALLING }, bounds });
    const [quiet, stalled] = [await open('/echo'), await open('/echo/deaf')];
    stalled.socket.write(Buffer.alloc(64 * 1024 * 1024));
    await until(() => [...gateway.websockets.services()].length === 1);
    quiet.send('still here');
    expect((await quiet.received(1)).length).toBe(1);
  });

  it('a flood from the upstream arrives whole', async () => {
    const { open } = await pair();
    const client = await open('/echo/flood');
    const [answer] = await client.received(1);
    expect(answer?.payload.length).toBe(LARGE);
  });
});

describe.concurrent('WS-6: the gateway ends a WebSocket', () => {
  it('by Close 1001 to both sides when it drains', async () => {
    const { upstream, gateway, open } = await pair();
    const client = await open('/echo');
    const stopped = gateway.listener.stop();
    const [close] = await client.received(1);
    expect([close?.opcode, close && closeCode(close)]).toEqual([CLOSE, 1001]);
    client.socket.write(frame(CLOSE, close?.payload ?? '', true));
    await client.ended();
    await until(() => upstream.seen[0]?.frames.length === 1);
    const [told] = upstream.seen[0]?.frames ?? [];
    expect([told?.opcode, told?.masked, told && closeCode(told)]).toEqual([CLOSE, true, 1001]);
    await stopped;
  });

  it('when neither side answers, after a second', async () => {
    const { upstream, gateway, open } = await pair();
    const client = await open('/echo/mute');
    await gateway.listener.stop();
    await client.ended();
    expect(client.frames.map(closeCode)).toEqual([1001]);
    await until(() => upstream.seen[0]?.ended === true);
  });

  it.each(['upstream', 'client'])('without the %s, where that takes nothing any more', async (slow) => {
    const timeouts = { connect: 1_000, headers: 1_000, idle: 600_000, total: 600_000 };
    const { upstream, gateway, open } = await pair({ plan: { timeouts } });
    const client = await open('/echo/deaf');
    if (slow === 'client') client.socket.pause();
    const { socket } = slow === 'client' ? (upstream.seen[0] ?? client) : client;
    socket.write(frame(BINARY, Buffer.alloc(2 * LARGE), slow === 'upstream'));
    let [last, still] = [0, 0];
    await until(() => {
      still = socket.bytesWritten === last ? still + 1 : 0;
      last = socket.bytesWritten;
      return still > 50;
    });
    expect(socket.writableLength).toBeGreaterThan(0);
    await gateway.listener.stop();
    await until(() => isIdle(gateway));
  });

  it('at once when it switches during a drain', async () => {
    let release = (): void => undefined;
    const held = new Promise<undefined>((resolve) => {
      release = () => resolve(undefined);
    });
    const { gateway, open } = await pair({ decide: () => held });
    const opening = open('/echo');
    await until(() => gateway.views.length === 1);
    const stopped = gateway.listener.stop();
    release();
    const client = await opening;
    expect(client.status).toBe(101);
    expect((await client.received(1)).map(closeCode)).toEqual([1001]);
    await stopped;
  });

  it.each([
    ['version', 1001],
    ['token', 1008],
  ] as const)('when its %s has ended, within a second or so, by %i', async (what, code) => {
    let ending: Ending | undefined;
    const { upstream, open } = await pair({ ending: () => ending });
    const client = await open('/echo');
    client.send('still here');
    await client.received(1);
    ending = what;
    expect((await client.received(2)).slice(1).map(closeCode)).toEqual([code]);
    await client.ended();
    await until(() => upstream.seen[0]?.frames.length === 2);
    expect(upstream.seen[0]?.frames.slice(1).map(closeCode)).toEqual([code]);
  });
});

it('a refused handshake is a whole answer, and the upstream is not asked', async () => {
  const { upstream, open } = await pair({ decide: () => ({ reason: 'credentials_missing' }) });
  const client = await open('/echo', { behind: get('/echo/canary') });
  await client.ended();
  expect([client.status, JSON.parse(client.body())]).toEqual([401, { error: 'credentials_missing' }]);
  expect(client.headers).toMatchObject({ connection: 'close' });
  expect([upstream.seen, upstream.requests]).toEqual([[], []]);
});

it('a plain listener that refuses everything refuses this', async () => {
  const { open } = await pair({ mode: 'reject' });
  const client = await open('/echo');
  expect([client.status, JSON.parse(client.body())]).toEqual([400, { error: 'plain_http' }]);
});

it('promise 16: an upstream that answers before it has been asked', async () => {
  const upstream = await startUpstream(
    () => 'HTTP/1.1 101 Switching Protocols\r\n\r\nHTTP/1.1 200 OK\r\n\r\n',
  );
  stack.defer(upstream.stop);
  const { open } = await pair({ upstream: upstream.origin });
  const client = await open('/echo');
  expect(client.status).toBe(502);
});
