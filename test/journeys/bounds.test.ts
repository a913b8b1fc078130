// The bounds of gateway.yaml: each is reached, refuses, and is counted under its own name.
import { connect, constants } from 'node:http2';
import type { Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { startEcho } from '../../upstreams/echo/echo.ts';
import { type RunningGateway, runGateway } from '../support/gateway.ts';
import { overHttp1 } from '../support/http-client.ts';
import { openSocket, sendBytes } from '../support/raw-client.ts';
import { openWebSocket, type WebSocketClient } from '../support/websocket-client.ts';
import { closeCode } from '../support/websocket-frames.ts';
import { startWebSocketUpstream, type WebSocketUpstream } from '../support/websocket-upstream.ts';

const stack = new AsyncDisposableStack();
let upstream: WebSocketUpstream;
let gateway: RunningGateway;
let sockets: Socket[] = [];

beforeAll(async () => {
  upstream = stack.use(await startWebSocketUpstream());
  const echo = stack.adopt(await startEcho({ port: 0 }), (service) => service.close());
  gateway = stack.use(
    await runGateway({
      config: 'bounds.yaml',
      policies: 'bounds',
      environment: { UPSTREAM: upstream.url, ECHO: echo.url },
    }),
  );
});
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  sockets = [];
  await vi.waitFor(async () => expect(await gateway.metric('sundial_client_connections')).toBe(0), {
    timeout: 20_000,
  });
});
afterAll(() => stack.disposeAsync());

const head = (target: string, lines: readonly string[] = [], method = 'GET'): string =>
  [`${method} ${target} HTTP/1.1`, 'Host: 127.0.0.1', ...lines, '', ''].join('\r\n');
const LIVE = '/api/live';

function open(bytes = ''): Socket {
  const socket = openSocket(gateway.http, { tls: false });
  sockets.push(socket);
  if (bytes !== '') socket.write(bytes);
  return socket;
}

async function webSocket(): Promise<WebSocketClient> {
  const client = await openWebSocket(gateway.http, LIVE, { tls: false });
  sockets.push(client.socket);
  return client;
}

const refused = (bound: string) => gateway.metric(`sundial_bounds_refused_total{bound="${bound}"}`);

async function counted(bound: string, reach: () => Promise<void>): Promise<void> {
  const before = (await refused(bound)) ?? Number.NaN;
  await reach();
  await vi.waitFor(async () => expect(await refused(bound)).toBe(before + 1), { timeout: 20_000 });
}

describe('SMG-24: a bound on a request', () => {
  it.each([
    ['header_bytes', 431, head(LIVE, [`X-Large: ${'v'.repeat(2_100)}`])],
    ['header_fields', 431, head(LIVE, Array<string>(21).fill('X-Many: v'))],
    ['target_bytes', 414, head(`${LIVE}/${'a'.repeat(1_100)}`)],
    ['headers', 408, head(LIVE).slice(0, -2)],
    ['body_rate', 408, `${head('/api/bulk', ['Content-Length: 9000'], 'POST')}slow`],
  ])('%s: %i, then the connection closes', async (bound, status, bytes) => {
    await counted(bound, async () => {
      const answer = await sendBytes(gateway.http, bytes, { tls: false });
      expect(answer).toMatchObject({
        status,
        headers: { connection: 'close' },
        json: { message: expect.any(String) },
      });
    });
  });

  it('body: 413 if no policy sets a limit', async () => {
    await using client = overHttp1(gateway.http, { tls: false });
    const post = (bytes: number) =>
      client.ask({ path: '/api/bulk', method: 'POST', body: 'x'.repeat(bytes) });
    expect((await post(11_000)).status).toBe(413);
    expect((await post(10_000)).status).toBe(200);
  });

  it('unread: a response that the client does not read is cut off', async () => {
    const before = (await refused('unread')) ?? Number.NaN;
    // More than all buffers hold, so the response is incomplete when it stalls.
    const socket = open(head('/api/bulk?chunks=400&bytes=100000'));
    socket.pause();
    const ended = new Promise((resolve) => socket.once('close', resolve));
    await vi.waitFor(async () => expect(await refused('unread')).toBeGreaterThan(before), {
      timeout: 20_000,
    });
    socket.resume();
    await ended;
  }, 30_000);
});

describe('a bound on connections', () => {
  it('connections_per_address: one more is closed at once; the admin listener accepts it', async () => {
    for (let count = 0; count < 8; count += 1) open();
    await vi.waitFor(async () => expect(await gateway.metric('sundial_client_connections')).toBe(8), {
      timeout: 20_000,
    });
    await counted('connections_per_address', async () => {
      const more = open();
      await new Promise((resolve) => more.once('close', resolve));
      expect(more.bytesRead).toBe(0);
    });
    await using admin = overHttp1(gateway.admin, { tls: false });
    expect((await admin.ask({ path: '/-/ready' })).status).toBe(200);
  });

  it('idle: a connection without a request is closed', async () => {
    const socket = open(head(LIVE));
    socket.resume();
    const openedAt = performance.now();
    await new Promise((resolve) => socket.once('close', resolve));
    expect(performance.now() - openedAt).toBeLessThan(10_000);
  });

  it('resets: an HTTP/2 client that only resets streams gets ENHANCE_YOUR_CALM', async () => {
    await counted('resets', async () => {
      const session = connect(`https://127.0.0.1:${gateway.https}`, { rejectUnauthorized: false });
      session.on('error', () => undefined);
      const told = new Promise((resolve) => session.on('goaway', resolve));
      await new Promise((resolve) => session.once('remoteSettings', resolve));
      expect(session.remoteSettings.maxConcurrentStreams).toBe(5);
      for (let count = 0; count < 40 && !session.destroyed; count += 1) {
        const stream = session.request({ ':path': LIVE, ':authority': '127.0.0.1' });
        stream.on('error', () => undefined);
        const closed = new Promise((resolve) => stream.once('close', resolve));
        stream.close(constants.NGHTTP2_CANCEL);
        await closed;
      }
      expect(await told).toBe(constants.NGHTTP2_ENHANCE_YOUR_CALM);
      session.destroy();
    });
  });
});

describe('WS-6: a bound on WebSockets', () => {
  it('websockets_per_client: one more gets 429 until another closes', async () => {
    const first = await webSocket();
    await webSocket();
    await counted('websockets_per_client', async () => {
      const refusal = await webSocket();
      expect(refusal.status).toBe(429);
      const line = await gateway.accessLine(refusal.headers['x-request-id']);
      expect(line).toMatchObject({ refusal: 'websockets_exhausted' });
    });
    first.socket.destroy();
    await vi.waitFor(async () => expect((await webSocket()).status).toBe(101), {
      timeout: 20_000,
      interval: 200,
    });
  });

  it('websocket_idle: an idle WebSocket is closed with 1001, an active one stays open', async () => {
    const [quiet, talking] = [await webSocket(), await webSocket()];
    const timer = setInterval(() => talking.send('still here'), 100);
    await counted('websocket_idle', async () => {
      const [last] = await quiet.received(1);
      expect(last && closeCode(last)).toBe(1001);
      await quiet.ended();
    });
    clearInterval(timer);
    expect(talking.socket.closed).toBe(false);
  });
});
