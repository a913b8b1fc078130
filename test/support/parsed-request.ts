// Parses requests with Node's own parser and the gateway's server settings, without a socket.
import type { IncomingMessage } from 'node:http';
import { Duplex } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { compileBounds } from '../../gateway/plan/compile/bounds.ts';
import { createNodeServer } from '../../gateway/plane/general/connection/node-server.ts';

export interface BytesParser {
  /** The requests whose heads are in `bytes` (Latin-1), up to the first error. */
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
