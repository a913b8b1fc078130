// Slow clients that keep a connection open. The deadlines are short.
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { type Answering, forEachTest } from './gateway-pair.ts';
import type { GatewayOptions } from './gateway-under-test.ts';
import { get, OK, until } from './raw-sockets.ts';

const { defer, pair: pairOf } = forEachTest();
const bounds = { headersMs: 400, requestMs: 60_000, idleMs: 400, unreadMs: 400, pipelined: 1_000 };

const pair = (answer: Answering, options: GatewayOptions = {}) => {
  const timeouts = { connect: 1_000, headers: 20_000, idle: 20_000, total: 20_000 };
  return pairOf(answer, { bounds, plan: { timeouts }, ...options });
};

function kept(socket: Socket): Socket {
  socket.on('error', () => undefined);
  defer(async () => void socket.destroy());
  return socket;
}

function repeat(everyMs: number, action: () => void): void {
  const timer = setInterval(action, everyMs);
  defer(async () => clearInterval(timer));
}

const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\u0004\0\0\0\0\0', 'latin1');
const body = 'x'.repeat(60_000);
const LARGE = `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

describe('H2-6: an HTTP/2 connection without a request', () => {
  it.each([
    ['sends nothing', () => undefined],
    ['sends pings', () => Buffer.from('\0\0\u0008\u0006\0\0\0\0\0--------', 'latin1')],
  ])('is closed by the idle timeout if its client %s', async (_what, more) => {
    const { gateway } = await pair(() => OK, { tls: true });
    const socket = kept(
      connectTls({ port: gateway.port, host: '127.0.0.1', rejectUnauthorized: false, ALPNProtocols: ['h2'] }),
    );
    socket.write(PREFACE);
    repeat(30, () => {
      const bytes = more();
      if (bytes !== undefined && socket.writable) socket.write(bytes);
    });
    socket.resume();
    await until(() => gateway.listener.connections() === 1);
    await until(() => gateway.listener.connections() === 0);
  });

  it('is closed if its first header section arrives too slowly', async () => {
    const { gateway } = await pair(() => OK, { tls: true });
    const socket = kept(
      connectTls({ port: gateway.port, host: '127.0.0.1', rejectUnauthorized: false, ALPNProtocols: ['h2'] }),
    );
    socket.write(PREFACE);
    // HEADERS of 200 octets on stream 1, sent octet by octet.
    socket.write(Buffer.from('\0\0\u00c8\u0001\u0005\0\0\0\u0001', 'latin1'));
    repeat(30, () => void (socket.writable && socket.write('\0')));
    socket.resume();
    await until(() => gateway.listener.connections() === 1);
    await until(() => gateway.listener.connections() === 0);
  });

  it('stays open while an upstream takes longer than the idle timeout', async () => {
    const { gateway } = await pair(
      ({ socket }) => {
        setTimeout(() => socket.write(OK), 1_300);
        return undefined;
      },
      { tls: true },
    );
    const session: ClientHttp2Session = connectHttp2(`https://127.0.0.1:${gateway.port}`, {
      rejectUnauthorized: false,
    });
    defer(async () => session.destroy());
    const stream = session.request({ ':path': '/echo', ':authority': 'api.example.com' });
    const status = await new Promise((resolve) => {
      stream.on('response', (headers) => resolve(headers[':status']));
      stream.on('error', resolve);
    });
    expect(status).toBe(200);
    stream.resume();
  });
});

describe('a response whose client reads slowly or not at all', () => {
  it('SMG-24: is aborted without progress, and its HTTP/1 connection is closed', async () => {
    const { upstream, gateway } = await pair(() => LARGE);
    const socket = kept(connect(gateway.port, '127.0.0.1'));
    socket.pause();
    // More than the buffers of the system hold, so that a response stays in the gateway.
    socket.write(get().repeat(400));
    await until(() => upstream.requests.length > 10);
    await until(() => gateway.listener.connections() === 0);
    expect(gateway.outcomes.some(({ aborted }) => aborted)).toBe(true);
  });

  it('H2-6: is aborted if the HTTP/2 window stays closed, and then its connection is closed', async () => {
    const { gateway } = await pair(() => LARGE, { tls: true });
    const session = connectHttp2(`https://127.0.0.1:${gateway.port}`, {
      rejectUnauthorized: false,
      settings: { initialWindowSize: 0 },
    });
    session.on('error', () => undefined);
    defer(async () => session.destroy());
    const stream = session.request({ ':path': '/echo', ':authority': 'api.example.com' });
    stream.on('error', () => undefined);
    stream.pause();
    repeat(50, () => void (session.destroyed || session.ping(() => undefined)));
    await until(() => gateway.outcomes.length === 1);
    expect(gateway.outcomes).toMatchObject([{ status: 200, aborted: true }]);
    await until(() => gateway.listener.connections() === 0);
  });

  it('is sent completely while the client keeps reading', async () => {
    const { gateway } = await pair(() => LARGE);
    const socket = kept(connect(gateway.port, '127.0.0.1'));
    let read = 0;
    socket.on('data', (chunk: Buffer) => {
      read += chunk.length;
      socket.pause();
      setTimeout(() => socket.resume(), 30);
    });
    const answers = 120;
    socket.write(get().repeat(answers));
    await until(() => read > 500_000);
    expect(gateway.listener.connections()).toBe(1);
    socket.removeAllListeners('data');
    socket.on('data', (chunk: Buffer) => {
      read += chunk.length;
    });
    socket.resume();
    await until(() => read > answers * body.length);
  });
});

describe('SMG-24: a slow request body', () => {
  const bodyRate = { units: 100, windowMs: 600 };
  const STARTED = get('/echo', ['Content-Length: 1000000'], 'POST', 'x');

  async function answerTo(socket: Socket): Promise<string> {
    let text = '';
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
    });
    await new Promise((resolve) => socket.once('close', resolve));
    return text;
  }

  it.each([
    ['it stops', () => ''],
    ['it comes octet by octet', () => 'x'],
  ])('gets 408 if %s, and the upstream request is cancelled', async (_what, more) => {
    const { upstream, gateway } = await pair(() => undefined, { bounds: { ...bounds, bodyRate } });
    const socket = kept(connect(gateway.port, '127.0.0.1'));
    socket.write(STARTED);
    repeat(50, () => void (socket.writable && socket.write(more())));
    const sentAt = performance.now();
    expect(await answerTo(socket)).toMatch(/^HTTP\/1\.1 408 [\s\S]*connection: close/i);
    expect(performance.now() - sentAt).toBeLessThan(bodyRate.windowMs + 10_000);
    await until(() => upstream.requests.length === 1 && upstream.requests[0]?.ended === true);
    expect(upstream.requests[0]?.complete).toBe(false);
    expect([...gateway.samples.refusals()]).toContainEqual([['body_rate'], 1]);
  });

  it('gets 408 over HTTP/2, and other streams of the connection continue', async () => {
    const { gateway } = await pair(({ head }) => (head.startsWith('GET') ? OK : undefined), {
      tls: true,
      bounds: { ...bounds, bodyRate },
    });
    const session = connectHttp2(`https://127.0.0.1:${gateway.port}`, { rejectUnauthorized: false });
    defer(async () => session.destroy());
    const status = (method: string, path: string): Promise<unknown> =>
      new Promise((resolve) => {
        const stream = session.request({ ':method': method, ':path': path, ':authority': 'api.example.com' });
        stream.on('response', (headers) => resolve(headers[':status']));
        stream.on('error', resolve);
        stream.resume();
      });
    expect(await status('POST', '/echo/slow')).toBe(408);
    expect(await status('GET', '/echo')).toBe(200);
  });

  it('gets no 408 while it comes fast enough', async () => {
    const { upstream, gateway } = await pair(() => undefined, { bounds: { ...bounds, bodyRate } });
    const socket = kept(connect(gateway.port, '127.0.0.1'));
    socket.write(STARTED);
    repeat(30, () => void (socket.writable && socket.write('x'.repeat(40))));
    await until(() => (upstream.requests[0]?.body.length ?? 0) > 2_000);
    expect(socket.bytesRead).toBe(0);
    expect(gateway.outcomes).toEqual([]);
  });

  it('gets no 408 while the upstream is slower than the client', async () => {
    const { upstream, gateway } = await pair(
      ({ socket }, count) => {
        if (count === 1) socket.pause();
        return undefined;
      },
      {
        bounds: { ...bounds, bodyRate },
      },
    );
    const socket = kept(connect(gateway.port, '127.0.0.1'));
    socket.write(get('/echo', ['Content-Length: 30000000'], 'POST'));
    const chunk = Buffer.alloc(1_000_000, 'x');
    for (let sent = 0; sent < 30; sent += 1) socket.write(chunk);
    await until(() => upstream.requests.length === 1);
    // Each takes a whole window, in which the first client makes no progress.
    for (const refused of [1, 2]) {
      const other = kept(connect(gateway.port, '127.0.0.1'));
      other.write(STARTED);
      other.resume();
      await until(() => gateway.outcomes.length === refused);
    }
    expect(gateway.outcomes).toMatchObject([{ status: 408 }, { status: 408 }]);
    expect(socket.bytesRead).toBe(0);
    upstream.requests[0]?.socket.resume();
    await until(() => upstream.requests[0]?.complete === true);
  });
});
