// A TCP proxy that can delay, cut or silence the connection to a server.
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

export interface FaultProxy extends AsyncDisposable {
  readonly port: number;
  /** Delay of each response from now on, in milliseconds. */
  readonly delay: (ms: number) => void;
  /** From now on, cuts a response and its connection after this many bytes; undefined stops that. */
  readonly cutAfter: (bytes: number | undefined) => void;
  /** From now on no bytes arrive and connections stay open. Connections of that time stay half-open. */
  readonly silence: (silent: boolean) => void;
}

export async function startFaultProxy(target: number): Promise<FaultProxy> {
  const sockets = new Set<Socket>();
  let delayMs = 0;
  let most: number | undefined;
  let isSilent = false;
  // Without noDelay a short response waits 40 ms for the acknowledgement of the one before.
  const server = createServer({ noDelay: true }, (client) => {
    const upstream = connect({ port: target, host: '127.0.0.1', noDelay: true });
    const ends = [client, upstream];
    const destroy = (): void => {
      for (const socket of ends) socket.destroy();
    };
    for (const socket of ends) {
      sockets.add(socket);
      socket.on('error', destroy);
      socket.once('close', () => {
        sockets.delete(socket);
        destroy();
      });
    }
    // A connection that has lost bytes is never used again.
    let isDead = false;
    const onTheirWay: Buffer[] = [];
    const pass = (bytes: Buffer): void => {
      isDead ||= isSilent;
      if (isDead) return;
      if (most === undefined) client.write(bytes);
      else client.write(bytes.subarray(0, most), destroy);
    };
    client.pipe(upstream);
    upstream.on('data', (bytes: Buffer) => {
      if (delayMs === 0 && onTheirWay.length === 0) return pass(bytes);
      // Keeps the order, also after the delay was reduced.
      onTheirWay.push(bytes);
      setTimeout(() => pass(onTheirWay.shift() ?? Buffer.of()), delayMs);
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    delay: (ms) => {
      delayMs = ms;
    },
    cutAfter: (bytes) => {
      most = bytes;
    },
    silence: (silent) => {
      isSilent = silent;
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => void server.close(() => resolve()));
    },
  };
}
