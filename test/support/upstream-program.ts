// Program of upstream-process.ts: HTTP/1.1 and WebSockets on one port, HTTP/2 on another. Prints each path.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import {
  createServer as createHttp2Server,
  type Http2ServerRequest,
  type Http2ServerResponse,
} from 'node:http2';
import type { Socket } from 'node:net';
import { acceptFor, frame, readFrames } from './websocket-frames.ts';

const [http1 = 0, http2 = 0] = process.argv.slice(2).map(Number);
const say = (text: string): void => void process.stdout.write(`${text}\n`);

function answer(
  request: IncomingMessage | Http2ServerRequest,
  response: ServerResponse | Http2ServerResponse,
): void {
  const path = request.url ?? '';
  say(path);
  if (path.startsWith('/never')) return;
  const writable: NodeJS.WritableStream = response;
  if (!path.startsWith('/events')) return void writable.end('ok');
  response.setHeader('Content-Type', 'text/event-stream');
  let number = 0;
  const events = setInterval(() => {
    number += 1;
    writable.write(`data: ${number}\n\n`);
    if (number === 2) say(`${path} flows`);
  }, 50);
  response.once('close', () => clearInterval(events));
}

const plain = createServer(answer);
plain.on('upgrade', ({ headers, url }: IncomingMessage, socket: Socket) => {
  say(url ?? '');
  socket.on('error', () => undefined);
  const accept = acceptFor(headers['sec-websocket-key'] ?? '');
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
  );
  let bytes = Buffer.alloc(0);
  socket.on('data', (chunk: Buffer) => {
    const read = readFrames(Buffer.concat([bytes, chunk]));
    bytes = Buffer.from(read.rest);
    for (const { opcode, payload } of read.frames) socket.write(frame(opcode, payload, false));
  });
});
plain.listen(http1, '127.0.0.1', () => {
  createHttp2Server(answer).listen(http2, '127.0.0.1', () => say('ready'));
});
