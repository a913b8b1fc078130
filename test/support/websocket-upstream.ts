// A WebSocket upstream that echoes, or fails as the last path segment says. Records its connections.
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { acceptFor, CLOSE, type Frame, frame, readFrames } from './websocket-frames.ts';

export interface SeenWebSocket {
  readonly target: string;
  readonly headers: IncomingMessage['headers'];
  readonly socket: Socket;
  readonly frames: Frame[];
  /** True after the gateway has ended the connection. */
  ended: boolean;
}

export interface WebSocketUpstream extends AsyncDisposable {
  readonly url: string;
  readonly seen: readonly SeenWebSocket[];
  readonly requests: readonly string[];
}

/** Larger than any buffer on the way. */
export const LARGE = 8 * 1024 * 1024;

/** Responses to a handshake by the last path segment; any other handshake is accepted and echoed. */
const ANSWERS: Readonly<Record<string, (accept: string) => string | undefined>> = {
  forbidden: () =>
    'HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain\r\nContent-Length: 2\r\nX-Own: 1\r\n\r\nno',
  emptied: () => 'HTTP/1.1 205 Reset Content\r\nContent-Length: 5\r\n\r\nwrong',
  chunked: () =>
    `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: X-Hop\r\nX-Hop: 1\r\n\r\n${LARGE.toString(16)}\r\n${'x'.repeat(LARGE)}\r\n0\r\n\r\n`,
  short: () => 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf',
  unsized: () => 'HTTP/1.1 200 OK\r\n\r\nhalf',
  unaccepted: () => switching('Sec-WebSocket-Accept: AAAAAAAAAAAAAAAAAAAAAAAAAAA='),
  bare: () => switching(),
  another: (accept) =>
    `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
  nominating: (accept) =>
    `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade, Sec-WebSocket-Accept\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
  unnamed: (accept) => `HTTP/1.1 101 Switching Protocols\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
  outdated: (accept) => switching(`Sec-WebSocket-Accept: ${accept}`).replace('HTTP/1.1', 'HTTP/1.0'),
  garbage: () => 'what is this\r\n\r\n',
  silent: () => undefined,
};

/** `tls`: PEM, for an upstream over TLS. */
export async function startWebSocketUpstream(tls?: {
  readonly cert: string | Buffer;
  readonly key: string | Buffer;
}): Promise<WebSocketUpstream> {
  const seen: SeenWebSocket[] = [];
  const requests: string[] = [];
  const sockets = new Set<Socket>();
  const listener: RequestListener = (request, response) => {
    requests.push(request.url ?? '');
    response.end('plain');
  };
  const server = tls === undefined ? createServer(listener) : createTlsServer(tls, listener);
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => sockets.delete(socket));
  });
  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    const { url: target = '', headers } = request;
    const one: SeenWebSocket = { target, headers, socket, frames: [], ended: false };
    seen.push(one);
    socket.once('end', () => {
      one.ended = true;
    });
    socket.once('close', () => {
      one.ended = true;
    });
    const how = /([a-z]+)(?:\?.*)?$/.exec(target)?.[1] ?? '';
    if (how === 'reset') return void socket.destroy();
    const accept = acceptFor(headers['sec-websocket-key'] ?? '');
    const other = Object.hasOwn(ANSWERS, how) ? ANSWERS[how] : undefined;
    if (other !== undefined) {
      const text = other(accept);
      if (text !== undefined) socket.write(text);
      if (how === 'short') socket.end();
      else socket.resume();
      return;
    }
    socket.write(
      switching(
        `Sec-WebSocket-Accept: ${accept}`,
        'Sec-WebSocket-Protocol: chat',
        'Deprecation: @1',
        'X-Own: a',
        'X-Own: b',
        'Content-Length: 5',
      ),
    );
    // Closes with its client, because Node keeps half-open sockets. Otherwise the gateway must close.
    if (how !== 'deaf' && how !== 'mute') socket.once('end', () => socket.end());
    if (how === 'flood') socket.write(frame(2, Buffer.alloc(LARGE), false));
    let bytes = Buffer.from(head);
    const take = (chunk: Buffer): void => {
      const read = readFrames(Buffer.concat([bytes, chunk]));
      bytes = Buffer.from(read.rest);
      for (const each of read.frames) {
        one.frames.push(each);
        if (how !== 'mute') socket.write(frame(each.opcode, each.payload, false));
        if (each.opcode === CLOSE && how !== 'mute') socket.end();
      }
    };
    take(Buffer.alloc(0));
    if (how !== 'deaf') socket.on('data', take);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    seen,
    requests,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => void server.close(() => resolve()));
    },
  };
}

function switching(...lines: readonly string[]): string {
  return `${['HTTP/1.1 101 Switching Protocols', 'Connection: Upgrade', 'Upgrade: websocket', ...lines].join('\r\n')}\r\n\r\n`;
}
