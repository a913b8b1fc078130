// A line to a server that passes bytes both ways, and can be slow, or break off in the middle of an answer.
// For tests in which the server is well and the way to it is not.
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

export interface FaultyLine extends AsyncDisposable {
  readonly port: number;
  /** How late each answer comes from now on, milliseconds. */
  readonly delay: (ms: number) => void;
  /** From now on an answer breaks off, with its connection, after so many bytes; undefined mends it. */
  readonly cutAfter: (bytes: number | undefined) => void;
  /** From now on nothing arrives, and no connection ends of it: half-open ones stay so when it is over. */
  readonly silence: (silent: boolean) => void;
}

export async function startFaultyLine(target: number): Promise<FaultyLine> {
  const sockets = new Set<Socket>();
  let delayMs = 0;
  let most: number | undefined;
  let isSilent = false;
  // Else a short answer waits for the acknowledgement of the one before it: 40 ms that neither end of a real line adds.
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
    // What is lost of a connection cannot be made good: nothing passes it any more.
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
      // In the order in which they came, also where the line has become faster.
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
