// Backpressure between client and upstream without loss. Offers far more than the system's buffers hold.
import { connect, createServer, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { startGateway } from './gateway-under-test.ts';
import { get, odd, sendRaw } from './raw-sockets.ts';

const PIECE = Buffer.alloc(256 * 1024, 'x');
const OFFERED = 256 * PIECE.length;
/** Octets. Two connections with the largest buffers of the system, and the buffers of the gateway. */
const MAX_TAKEN = OFFERED / 2;
/** A test holds a side for as long as the machine needs. */
const NO_DEADLINE = { connect: 600_000, headers: 600_000, idle: 600_000, total: 600_000 };

const stack: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of stack.splice(0).reverse()) await end();
});

/** `onStuck`: gets the connection of each request for `/echo/stuck`. Other requests get a response. */
async function start(onStuck: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('data', (head) => {
      if (head.includes('/echo/stuck')) onStuck(socket);
      else socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const bound = server.address();
  const port = typeof bound === 'object' && bound !== null ? bound.port : 0;
  const gateway = await startGateway({
    upstream: `http://127.0.0.1:${port}`,
    plan: { timeouts: NO_DEADLINE },
    bounds: { unreadMs: 600_000 },
  });
  stack.push(gateway.stop, async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => void server.close(resolve));
  });
  return gateway.port;
}

/** Writes as fast as `socket` accepts. The result returns the octets accepted so far. */
function offer(socket: Socket): () => number {
  let left = OFFERED / PIECE.length;
  const write = (): void => {
    for (; left > 0; left -= 1) {
      if (socket.write(PIECE)) continue;
      left -= 1;
      socket.once('drain', write);
      return;
    }
  };
  write();
  return () => socket.bytesWritten;
}

/** Serves other requests until `taken` stays the same. */
async function atRest(port: number, taken: () => number): Promise<number> {
  for (let before = -1; ; before = taken()) {
    for (let others = 0; others < 5; others += 1)
      expect((await sendRaw(port, get())).statuses).toEqual([200]);
    if (before > 0 && taken() === before) return before;
  }
}

function client(port: number, head: string): Socket {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  stack.push(async () => void socket.destroy());
  socket.write(head);
  return socket;
}

describe('back pressure', () => {
  it.each([
    ['a usual', get],
    ['an unusual', odd],
  ])(
    'pauses an upstream while the response to %s request is not read, and loses no octet',
    async (_form, ask) => {
      let taken = (): number => 0;
      const port = await start((socket) => {
        socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${OFFERED}\r\n\r\n`);
        taken = offer(socket);
      });
      const socket = client(port, ask('/echo/stuck')).pause();
      expect(await atRest(port, () => taken())).toBeLessThan(MAX_TAKEN);
      let read = 0;
      await new Promise<void>((resolve) => {
        socket.on('data', (chunk: Buffer) => {
          read += chunk.length;
          if (read > OFFERED) resolve();
        });
        socket.resume();
      });
      expect(read - OFFERED).toBeLessThan(1_000);
    },
  );

  it('pauses a client while the upstream does not read its body, and loses no octet', async () => {
    let stuck: Socket | undefined;
    const port = await start((socket) => {
      stuck = socket.pause();
    });
    const head = `POST /echo/stuck HTTP/1.1\r\nHost: api.example.com\r\nContent-Length: ${OFFERED}\r\n\r\n`;
    const taken = offer(client(port, head));
    expect(await atRest(port, taken)).toBeLessThan(MAX_TAKEN);
    let read = 0;
    await new Promise<void>((resolve) => {
      stuck?.on('data', (chunk: Buffer) => {
        read += chunk.length;
        // Octets that arrived with the head are not counted.
        if (read > OFFERED - 2 * PIECE.length) resolve();
      });
      stuck?.resume();
    });
  });
});
