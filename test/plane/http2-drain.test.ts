// The TLS listener when it stops: open requests finish, and clients that stay connected do not delay it.
import { connect as connectPlain, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import { describe, expect, it, vi } from 'vitest';
import { drain } from '../../gateway/server/public-listeners.ts';
import { type Fields, frame, OPENING, readFrames, request } from '../wire/http2-frames.ts';
import type { GatewayUnderTest } from './gateway-under-test.ts';
import { send, sessionForEachTest } from './http2-sessions.ts';
import { OK, until } from './raw-sockets.ts';

const { defer, open } = sessionForEachTest();

it('a request that is open when the listener stops gets its response', async () => {
  const { gateway, upstream, session } = await open(() => undefined);
  const running = send(session);
  await until(() => upstream.requests.length === 1);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const stopped = gateway.listener.stop();
  vi.advanceTimersByTime(60_000);
  vi.useRealTimers();
  // After one round trip, the session would have ended.
  await until(() => session.closed);
  upstream.requests[0]?.socket.write(OK);
  expect(await running).toMatchObject({ status: 200, reset: undefined });
  await stopped;
});

describe('a drain does not wait for a client that keeps its side open', () => {
  const HALF_OF_A_HEAD = '\x00\x00\x64\x01\x04\x00\x00\x00\x01\x82';
  const HELLO = Buffer.from([0x16, 0x03, 0x01]);

  /** A client that never closes its connection. `over.sent`: octets already sent over TCP. */
  function hold(port: number, protocol: string, over?: { readonly socket: Socket; readonly sent: number }) {
    let unsent = over?.sent ?? 0;
    const carrier = over && {
      socket: new Duplex({
        read: () => undefined,
        write(chunk: Buffer, _encoding, done) {
          over.socket.write(chunk.subarray(unsent), done);
          unsent = 0;
        },
      }),
    };
    over?.socket.on('data', (chunk) => carrier?.socket.push(chunk));
    const options = { port, ALPNProtocols: [protocol], rejectUnauthorized: false, allowHalfOpen: true };
    const client = connectTls({ ...options, ...carrier } as ConnectionOptions);
    client.on('error', () => undefined).resume();
    defer(async () => void client.destroy());
    return client;
  }

  async function drained(
    gateway: GatewayUnderTest,
    isReady: () => boolean,
    meanwhile: () => void | Promise<void> = () => undefined,
  ): Promise<boolean> {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      while (!isReady()) await vi.advanceTimersByTimeAsync(0);
      const times = { waitMs: 0, timeoutMs: 2 ** 31 - 1 };
      const whole = drain({ listeners: [gateway.listener], onDraining: () => undefined, ...times });
      await meanwhile();
      const end = performance.now() + 20_000;
      while (gateway.listener.connections() > 0 && performance.now() < end)
        await vi.advanceTimersByTimeAsync(100);
      const isOver = gateway.listener.connections() === 0;
      gateway.listener.destroy();
      return (await whole) && isOver;
    } finally {
      vi.useRealTimers();
    }
  }

  it.each([
    ['sends nothing', '', false],
    ['is idle', OPENING, false],
    ['has sent half of a header section', OPENING + HALF_OF_A_HEAD, false],
    ['has ended its session', OPENING + frame(7, 0, 0, '\x00'.repeat(8)), true],
  ])('if the client %s', async (_what, bytes, hasEnded) => {
    const { gateway, session } = await open();
    session.destroy();
    const client = hold(gateway.port, 'h2');
    let received = 0;
    client.on('data', ({ length }: Buffer) => {
      received += length;
    });
    client.write(bytes, 'latin1');
    const isReady = (): boolean => received > 0 && (!hasEnded || client.readableEnded);
    expect(await drained(gateway, isReady)).toBe(true);
    expect(client.readableEnded).toBe(true);
  });

  it('if the next header section never ends after a request with a late response', async () => {
    const bounds = { idleMs: 2 ** 31 - 1 };
    const { gateway, session, upstream } = await open(() => undefined, { bounds });
    session.destroy();
    const client = hold(gateway.port, 'h2');
    let received = '';
    client.on('data', (chunk: Buffer) => {
      received += chunk.toString('latin1');
    });
    const END_STREAM_ALONE = 1;
    const asked: Fields = [
      [':method', 'GET'],
      [':scheme', 'https'],
      [':authority', 'api.example.com'],
      [':path', '/echo'],
    ];
    client.write(request(asked) + frame(1, END_STREAM_ALONE, 3, '\x82'), 'latin1');
    const answerLate = async (): Promise<void> => {
      await vi.advanceTimersByTimeAsync(1_000);
      upstream.requests[0]?.socket.write(OK);
      while (readFrames(received).body !== 'ok') await vi.advanceTimersByTimeAsync(0);
    };
    expect(await drained(gateway, () => upstream.requests.length === 1, answerLate)).toBe(true);
  });

  it.each(['h2', 'http/1.1'])('if the client starts %s during the drain', async (protocol) => {
    const { gateway, session } = await open();
    const socket = connectPlain({ port: gateway.port, allowHalfOpen: true });
    defer(async () => void socket.destroy());
    socket.write(HELLO);
    // Once a later connection is accepted, earlier octets are read.
    do await send(session, { ':path': '/nowhere' });
    while (gateway.listener.connections() < 2);
    session.destroy();
    let shaken = false;
    const begin = (): void => {
      const client = hold(gateway.port, protocol, { socket, sent: HELLO.length });
      client.once('secureConnect', () => {
        shaken = true;
        client.write(protocol === 'h2' ? OPENING : 'GET /echo HTTP/1.1\r\nHost: a');
      });
    };
    expect(await drained(gateway, () => gateway.listener.connections() === 1, begin)).toBe(true);
    expect(shaken).toBe(true);
  });
});
