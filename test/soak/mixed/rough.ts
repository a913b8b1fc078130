// Half of the soak's traffic: clients that disconnect, stall or send invalid octets, and WebSockets.
import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { head, openSocket } from '../../support/raw-client.ts';
import { acceptFor, CLOSE, type Frame, frame, readFrames, TEXT } from '../../support/websocket-frames.ts';
import { type Kind, NAME, pick, type Scene } from './polite.ts';
import { must, WrongAnswer } from './state.ts';

/** Twice the limit for slow headers. */
const LONGEST_WAIT_MS = 20_000;
const KEY = 'dGhlIHNhbXBsZSBub25jZQ==';
const HOST = `Host: ${NAME}`;

/** Each with the first digit of its status. */
const BAD: readonly string[] = [
  'GET /api/open HTTP/1.1\r\n\r\n',
  `GET /api/open HTTP/1.1\r\n${HOST}\r\n${HOST}\r\n\r\n`,
  `GET /api/open a HTTP/1.1\r\n${HOST}\r\n\r\n`,
  `GET /api/open HTTP/1.1\r\n${HOST}\r\nA : b\r\n\r\n`,
  `POST /api/open HTTP/1.1\r\n${HOST}\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  `POST /api/open HTTP/1.1\r\n${HOST}\r\nContent-Length: 5, 6\r\n\r\nhello`,
  `GET /api/open/%2e%2e/x HTTP/1.1\r\n${HOST}\r\n\r\n`,
  `GET /api/open HTTP/1.1\r\n${HOST}\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`,
  'nonsense\r\n\r\n',
];

async function untilClosed(socket: Socket, withinMs: number): Promise<string> {
  let text = '';
  socket.on('data', (chunk: Buffer) => {
    if (text.length < 4_096) text += chunk.toString('latin1');
  });
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => reject(new WrongAnswer(`still open after: ${text.slice(0, 300)}`)),
    withinMs,
  );
  // Errors count as an end here, and `once` would throw them.
  const closed = new Promise<void>((resolve) => void socket.once('close', () => resolve()));
  try {
    if (!socket.closed) await Promise.race([closed, late]);
  } finally {
    clearTimeout(timer);
  }
  return text;
}

const open = ({ ports }: Scene, tls = Math.random() < 0.5): Socket =>
  openSocket(tls ? ports.https : ports.http, { tls });

const bad: Kind = async (scene) => {
  const socket = open(scene);
  const bytes = pick(BAD);
  socket.write(bytes);
  const text = await untilClosed(socket, LONGEST_WAIT_MS);
  must(
    /^HTTP\/1\.1 4\d\d /.test(text),
    () => `${JSON.stringify(bytes.slice(0, 80))} got ${text.slice(0, 300)}`,
  );
  return undefined;
};

const tooLarge: Kind = async (scene) => {
  const socket = open(scene);
  socket.write(head('POST /api/open HTTP/1.1', HOST, 'Content-Length: 3000000'));
  const text = await untilClosed(socket, LONGEST_WAIT_MS);
  must(text.startsWith('HTTP/1.1 413 '), () => `of a body too large: ${text.slice(0, 300)}`);
  return undefined;
};

const dripping: Kind = async (scene) => {
  const socket = open(scene);
  socket.write(`GET /api/open HTTP/1.1\r\n${HOST}\r\nX-Slow: `);
  const drip = setInterval(() => socket.write('x'), 200);
  try {
    const text = await untilClosed(socket, LONGEST_WAIT_MS);
    must(text === '' || text.startsWith('HTTP/1.1 408 '), () => `a slow header got ${text.slice(0, 300)}`);
  } finally {
    clearInterval(drip);
  }
  return undefined;
};

/** Disconnects in the middle of a body. */
const halfSent: Kind = async (scene) => {
  const socket = open(scene);
  socket.write(`${head('POST /api/open HTTP/1.1', HOST, 'Content-Length: 100000')}${'x'.repeat(50_000)}`);
  await pause(20 + Math.random() * 100);
  socket.destroy();
  return undefined;
};

const leaving: Kind = async (scene) => {
  const { firstBytes, leave } = pick([scene.h1, scene.h2, scene.plain])().begin({
    path: `/api/open/long?chunks=200&bytes=${pick([10, 20_000])}&every=${pick([0, 50])}`,
  });
  if (Math.random() < 0.7) await firstBytes;
  leave();
  return undefined;
};

/** Reads a large response slowly, to its end. */
const sipping: Kind = async (scene) => {
  const socket = open(scene);
  const size = 64 * 16 * 1_024;
  socket.write(head('GET /api/open/sip?chunks=64&bytes=16384 HTTP/1.1', HOST, 'Connection: close'));
  let received = 0;
  socket.on('data', (chunk: Buffer) => {
    received += chunk.length;
    socket.pause();
    setTimeout(() => socket.resume(), 20);
  });
  await untilClosed(socket, 3 * LONGEST_WAIT_MS);
  must(received > size, () => `a slow reader got ${received} bytes`);
  return undefined;
};

/** A handshake that stops after its first bytes, or whose SNI the gateway does not know. */
const halfShaken: Kind = async ({ ports }) => {
  if (Math.random() < 0.5) {
    const socket = openSocket(ports.https, { tls: false });
    socket.write(Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01]));
    await pause(Math.random() * 300);
    socket.destroy();
    return undefined;
  }
  const socket = connectTls({ port: ports.https, host: '127.0.0.1', servername: 'nobody.example.net' });
  await untilClosed(
    socket.on('error', () => undefined),
    LONGEST_WAIT_MS,
  );
  return undefined;
};

interface Talk extends Disposable {
  readonly socket: Socket;
  readonly say: (text: string) => void;
  readonly next: () => Promise<Frame>;
}

async function startTalk(scene: Scene): Promise<Talk> {
  const socket = open(scene);
  let bytes = Buffer.alloc(0);
  let switched = false;
  const frames: Frame[] = [];
  let news = Promise.withResolvers<void>();
  socket.on('data', (chunk: Buffer) => {
    bytes = Buffer.concat([bytes, chunk]);
    const end = switched ? -1 : bytes.indexOf('\r\n\r\n');
    if (end >= 0) {
      const answer = bytes.subarray(0, end).toString('latin1');
      switched = answer.startsWith('HTTP/1.1 101') && answer.includes(acceptFor(KEY));
      bytes = bytes.subarray(end + 4);
    }
    const read = switched ? readFrames(bytes) : undefined;
    frames.push(...(read?.frames ?? []));
    bytes = read === undefined ? bytes : Buffer.from(read.rest);
    news.resolve();
    news = Promise.withResolvers<void>();
  });
  socket.on('close', () => news.resolve());
  const until = async (holds: () => boolean): Promise<void> => {
    const late = AbortSignal.timeout(LONGEST_WAIT_MS);
    while (!holds() && !socket.closed && !late.aborted) await Promise.race([news.promise, pause(500)]);
  };
  socket.write(
    head(
      'GET /api/talk/x HTTP/1.1',
      HOST,
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      `Sec-WebSocket-Key: ${KEY}`,
    ),
  );
  await until(() => switched);
  must(switched, () => `no WebSocket: ${bytes.toString('latin1').slice(0, 300)}`);
  return {
    socket,
    say: (text) => void socket.write(frame(TEXT, text, true)),
    next: async () => {
      await until(() => frames.length > 0);
      const first = frames.shift();
      must(first !== undefined, () => 'a WebSocket fell silent');
      return first;
    },
    [Symbol.dispose]: () => void socket.destroy(),
  };
}

/** Sends `turns` messages that are echoed, then ends properly or not. */
const talking =
  (turns: number, everyMs: number): Kind =>
  async (scene) => {
    using talk = await startTalk(scene);
    for (let turn = 0; turn < turns && !scene.state.stopping; turn += 1) {
      talk.say(`turn ${turn}`);
      const { payload } = await talk.next();
      must(
        payload.toString() === `turn ${turn}`,
        () => `turn ${turn} was answered ${payload.toString('hex')}`,
      );
      await pause(everyMs);
    }
    if (Math.random() < 0.3) return undefined;
    talk.socket.write(frame(CLOSE, Buffer.from([0x03, 0xe8]), true));
    const { opcode } = await talk.next();
    must(opcode === CLOSE, () => `a close was answered by opcode ${opcode}`);
    return undefined;
  };

/** With their shares of the traffic. */
export const ROUGH: Readonly<Record<string, readonly [share: number, kind: Kind]>> = {
  'invalid request': [4, bad],
  'too large': [2, tooLarge],
  'slow header': [1, dripping],
  'half a body': [2, halfSent],
  'client disconnects': [4, leaving],
  'slow reader': [1, sipping],
  'half a handshake': [2, halfShaken],
  'short WebSocket': [3, talking(3, 5)],
};

/** Long-lived traffic across reloads, each kind with a client. */
export const LASTING: Readonly<Record<string, Kind>> = { 'long WebSocket': talking(40, 1_000) };
