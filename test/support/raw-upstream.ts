// A raw TCP upstream: records the bytes that the gateway sends, and answers with any bytes.
import { createServer, type Socket } from 'node:net';

export interface SeenConnection {
  readonly socket: Socket;
  /** All bytes received, as Latin-1. */
  readonly received: string;
  /** Whether the gateway has ended the connection, by FIN or reset. */
  readonly gone: boolean;
}

export interface RawUpstream extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly connections: readonly SeenConnection[];
  /** Number of request heads for this target, query included. */
  readonly count: (target: string) => number;
}

/** `onRequest` is called once per request head, with its target. Bodies are only in `received`. */
export async function startRawUpstream(
  onRequest: (target: string, socket: Socket, head: string) => void,
): Promise<RawUpstream> {
  const connections: { socket: Socket; received: string; gone: boolean }[] = [];
  const targets: string[] = [];
  const server = createServer((socket) => {
    const seen = { socket, received: '', gone: false };
    connections.push(seen);
    let read = 0;
    socket.on('data', (chunk) => {
      seen.received += chunk.toString('latin1');
      for (
        let end = seen.received.indexOf('\r\n\r\n', read);
        end !== -1;
        end = seen.received.indexOf('\r\n\r\n', read)
      ) {
        const head = seen.received.slice(read, end);
        read = end + 4;
        const target = /^[A-Z]+ (\S+) HTTP\/1\.1\r\n/.exec(head)?.[1];
        if (target === undefined) continue;
        targets.push(target);
        onRequest(target, socket, head);
      }
    });
    socket.on('error', () => undefined);
    for (const event of ['end', 'close']) {
      socket.once(event, () => {
        seen.gone = true;
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const bound = server.address();
  const port = typeof bound === 'object' && bound !== null ? bound.port : 0;
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    connections,
    count: (target) => targets.filter((each) => each === target).length,
    [Symbol.asyncDispose]: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const { socket } of connections) socket.destroy();
      await closed;
    },
  };
}
