// The upstream of the fault journeys: each target has a failure of its own.
import type { Socket } from 'node:net';
import { type RawUpstream, startRawUpstream } from './raw-upstream.ts';

const OK = 'HTTP/1.1 200 OK\r\n';
const HALF = `${OK}Content-Type: text/plain\r\nContent-Length: 100\r\n\r\nhalf of it.`;

/** Sent as written. The connection stays open. */
const ANSWERS: Readonly<Record<string, string>> = {
  garbage: 'SSH-2.0-OpenSSH_9.9\r\n\r\n',
  'two-lengths': `${OK}Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!`,
  'both-framings': `${OK}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  'folded-line': `${OK}X-Fold: 1\r\n 2\r\nContent-Length: 0\r\n\r\n`,
  'nul-in-a-line': `${OK}X-Nul: a\0b\r\nContent-Length: 0\r\n\r\n`,
  'unknown-coding': `${OK}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`,
  'huge-head': `${OK}X-Huge: ${'x'.repeat(200_000)}\r\n\r\n`,
  'countless-fields': `${OK}${'X-Countless: x\r\n'.repeat(20_000)}\r\n`,
  overloaded: 'HTTP/1.1 503 Service Unavailable\r\nRetry-After: 0\r\nContent-Length: 4\r\n\r\nbusy',
  stall: HALF,
};

const DEEDS: Readonly<Record<string, (socket: Socket) => void>> = {
  hang: () => undefined,
  reset: (socket) => socket.resetAndDestroy(),
  close: (socket) => socket.end(),
  // The response has promised to keep the connection open.
  'answer-and-close': (socket) => socket.end(`${OK}Connection: keep-alive\r\nContent-Length: 2\r\n\r\nok`),
  'half-then-close': (socket) => socket.end(HALF),
  'half-then-reset': (socket) => socket.write(HALF, () => setImmediate(() => socket.resetAndDestroy())),
  'half-chunked': (socket) => socket.end(`${OK}Transfer-Encoding: chunked\r\n\r\na\r\nhalf of it\r\n`),
  drip: (socket) => {
    socket.write(`${OK}Transfer-Encoding: chunked\r\n\r\n`);
    keepWriting(socket, '1\r\n.\r\n');
  },
  'drip-head': (socket) => {
    socket.write(`${OK}X-Slow: `);
    keepWriting(socket, 'x');
  },
};

function keepWriting(socket: Socket, text: string): void {
  const drops = setInterval(() => socket.write(text), 50);
  socket.once('close', () => clearInterval(drops));
}

/** Serves `/raw/<name>`. The second request for `/raw/stale` on a connection breaks the connection. */
export function startBrokenUpstream(): Promise<RawUpstream> {
  const used = new WeakSet<Socket>();
  return startRawUpstream((target, socket) => {
    const name = target.replace(/^\/raw\//, '').replace(/\?.*$/, '');
    const answer = ANSWERS[name];
    if (answer !== undefined) socket.write(Buffer.from(answer, 'latin1'));
    else if (name !== 'stale') DEEDS[name]?.(socket);
    else if (used.has(socket)) socket.destroy();
    else {
      used.add(socket);
      socket.write(`${OK}Content-Length: 2\r\n\r\nok`);
    }
  });
}
