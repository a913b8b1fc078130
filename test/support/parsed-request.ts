// Requests as Node's own parser hands them to a public listener, without a socket: bytes in, messages out.
// The server is the gateway's, with all the strictness it is given; nobody answers.
import type { IncomingMessage } from 'node:http';
import { Duplex } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { compileBounds } from '../../gateway/plan/compile/bounds.ts';
import { createNodeServer } from '../../gateway/plane/general/connection/node-server.ts';

export interface BytesParser {
  /** The requests whose heads `bytes` (Latin-1) hold, as far as the parser followed. */
  readonly parse: (bytes: string) => Promise<readonly IncomingMessage[]>;
}

export function createBytesParser(): BytesParser {
  const heard: IncomingMessage[] = [];
  const hear = (raw: IncomingMessage): void => void heard.push(raw);
  const server = createNodeServer({
    tls: undefined,
    bounds: compileBounds({}),
    admits: () => true,
    sessions: { watch: () => undefined },
    first: (socket, toParsers) => toParsers(socket),
  });
  for (const event of ['request', 'checkContinue', 'checkExpectation', 'upgrade', 'connect'])
    server.on(event, hear);
  server.on('clientError', (_error, socket) => void socket.destroy());
  return {
    async parse(bytes) {
      heard.length = 0;
      const socket = new Duplex({ read: () => undefined, write: (_chunk, _coding, done) => done() });
      socket.on('error', () => undefined);
      server.emit('connection', socket);
      socket.push(Buffer.from(bytes, 'latin1'));
      await turn();
      socket.destroy();
      return [...heard];
    },
  };
}
