// How an open WebSocket ends: how an end reaches the other side, and how the gateway ends it.
import { connect } from 'node:net';
import { describe, expect, it, vi } from 'vitest';
import type { ExpiryCause } from '../../../gateway/exchange/tunnel-service.ts';
import { HANDSHAKE, type WebSocketClient } from '../../support/websocket-client.ts';
import { BINARY, CLOSE, closeCode, frame } from '../../support/websocket-frames.ts';
import { LARGE } from '../../support/websocket-upstream.ts';
import { get, sendRaw, until } from '../raw-sockets.ts';
import { isIdle, pairsToTheEnd } from './websocket-pair.ts';

const { pair, stack } = pairsToTheEnd();

const STALLING = { connect: 1_000, headers: 1_000, idle: 500, total: 5_000 };

const OFFERED_MB = 64;

/** Writes as fast as `socket` accepts. Resolves with the accepted megabytes once it accepts no more. */
async function fill({ socket }: Pick<WebSocketClient, 'socket'>, masked: boolean): Promise<number> {
  const chunk = frame(BINARY, Buffer.alloc(1024 * 1024), masked);
  let [taken, last, still] = [0, 0, 0];
  for (let sent = 0; sent < OFFERED_MB; sent += 1)
    socket.write(chunk, (error) => {
      // Octets that were pending when the connection broke were not accepted.
      if (!error) taken += 1;
    });
  await until(() => {
    still = taken === last ? still + 1 : 0;
    last = taken;
    return taken > 0 && still > 50;
  });
  return taken;
}

describe.concurrent('the end of one side reaches the other', () => {
  const ends: readonly [string, (client: WebSocketClient) => unknown][] = [
    ['ends its side', ({ socket }) => socket.end()],
    ['closes its socket', ({ socket }) => socket.destroy()],
    ['resets its connection', ({ socket }) => socket.resetAndDestroy()],
  ];

  it.each([true, false])(
    'a client that ends its side after its Close frame still gets the Close frame in return (TLS: %s)',
    async (tls) => {
      const { gateway, open } = await pair({ tls });
      const client = await open('/echo');
      client.socket.end(frame(CLOSE, Buffer.from([3, 232]), true));
      const [answer] = await client.received(1);
      expect([answer?.opcode, answer?.payload.toString('hex')]).toEqual([CLOSE, '03e8']);
      await until(() => isIdle(gateway));
    },
  );

  it.each(ends)('a client that %s closes the upstream connection', async (_how, leave) => {
    const { upstream, gateway, open } = await pair();
    const client = await open('/echo');
    leave(client);
    await until(() => upstream.seen[0]?.ended === true && isIdle(gateway));
  });

  it('an upstream that stays open after its client has closed is disconnected', async () => {
    const { gateway, open } = await pair();
    const client = await open('/echo/deaf');
    client.socket.end();
    await until(() => isIdle(gateway));
  });

  it('a client that disconnects before the response ends the upstream call', async () => {
    const { upstream, gateway } = await pair();
    const socket = connect(gateway.port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write(get('/echo/silent', HANDSHAKE));
    await until(() => upstream.seen.length === 1);
    socket.end();
    await until(() => upstream.seen[0]?.ended === true && gateway.outcomes.length === 1);
    expect(gateway.outcomes).toMatchObject([{ status: 499, aborted: true }]);
  });

  it('a client that ends its side while its request is checked gets no WebSocket', async () => {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    const { gateway } = await pair({
      decide: ({ path }) => (path === '/echo/held' ? promise : { reason: 'route_unknown' }),
    });
    const socket = connect({ port: gateway.port, host: '127.0.0.1', allowHalfOpen: true });
    stack.defer(() => void socket.destroy());
    socket.end(get('/echo/held', HANDSHAKE));
    await until(() => gateway.views.length === 1);
    // Once this request is answered, earlier octets and the end are read.
    await sendRaw(gateway.port, get('/nothing'));
    resolve(undefined);
    await until(() => gateway.outcomes.some(({ status }) => status === 499) && isIdle(gateway));
  });

  it.each(['destroy', 'resetAndDestroy', 'end'] as const)(
    'if the upstream closes (%s), the client is closed and the gateway keeps serving',
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
    'a %s that does not read pauses the other side until the idle timeout closes both',
    async (slow) => {
      const timeouts = { connect: 1_000, headers: 1_000, idle: 1_500, total: 5_000 };
      const { upstream, gateway, open } = await pair({ plan: { timeouts } });
      const client = await open('/echo/deaf');
      if (slow === 'client') client.socket.pause();
      const taken = await fill(
        slow === 'client' ? (upstream.seen[0] ?? client) : client,
        slow === 'upstream',
      );
      expect(taken).toBeLessThan(32);
      await vi.waitFor(() => expect(isIdle(gateway)).toBe(true), { timeout: 20_000 });
    },
  );

  it('a quiet WebSocket is not closed by the idle timeout or a deadline of a request', async () => {
    const bounds = { headersMs: 300, requestMs: 300, idleMs: 300, unreadMs: 300 };
    const { gateway, open } = await pair({ plan: { timeouts: STALLING }, bounds });
    const [quiet, stalled] = [await open('/echo'), await open('/echo/deaf')];
    stalled.socket.write(Buffer.alloc(64 * 1024 * 1024));
    await until(() => [...gateway.websockets.services()].length === 1);
    quiet.send('still here');
    expect((await quiet.received(1)).length).toBe(1);
  });

  it('a large message of the upstream arrives completely', async () => {
    const { open } = await pair();
    const client = await open('/echo/flood');
    const [answer] = await client.received(1);
    expect(answer?.payload.length).toBe(LARGE);
  });
});

describe.concurrent('WS-6: the gateway closes a WebSocket', () => {
  it('with Close 1001 to both sides when it drains', async () => {
    const { upstream, gateway, open } = await pair();
    const client = await open('/echo');
    const stopped = gateway.listener.stop();
    const [close] = await client.received(1);
    expect([close?.opcode, close && closeCode(close)]).toEqual([CLOSE, 1001]);
    client.socket.write(frame(CLOSE, close?.payload ?? '', true));
    await client.ended();
    await until(() => upstream.seen[0]?.frames.length === 1);
    const [sent] = upstream.seen[0]?.frames ?? [];
    expect([sent?.opcode, sent?.masked, sent && closeCode(sent)]).toEqual([CLOSE, true, 1001]);
    await stopped;
  });

  it('even if neither side answers its Close frame', async () => {
    const { upstream, gateway, open } = await pair();
    const client = await open('/echo/mute');
    await gateway.listener.stop();
    await client.ended();
    expect(client.frames.map(closeCode)).toEqual([1001]);
    await until(() => upstream.seen[0]?.ended === true);
  });

  it.each(['upstream', 'client'])('even if the %s does not read any more', async (slow) => {
    const timeouts = { connect: 1_000, headers: 1_000, idle: 600_000, total: 600_000 };
    const { upstream, gateway, open } = await pair({ plan: { timeouts } });
    const client = await open('/echo/deaf');
    if (slow === 'client') client.socket.pause();
    const taken = await fill(slow === 'client' ? (upstream.seen[0] ?? client) : client, slow === 'upstream');
    expect(taken).toBeLessThan(OFFERED_MB);
    await gateway.listener.stop();
    await until(() => isIdle(gateway));
  });

  it('at once if the handshake completes during a drain', async () => {
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
  ] as const)('when its %s expires, with Close %i', async (what, code) => {
    let ending: ExpiryCause | undefined;
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
