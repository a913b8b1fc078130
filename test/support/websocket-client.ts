// A raw WebSocket client: shows the response head as received, and then frames.
import type { Socket } from 'node:net';
import { vi } from 'vitest';
import { openSocket } from './raw-client.ts';
import { type Frame, frame, readFrames, TEXT } from './websocket-frames.ts';

export interface WebSocketClient extends Disposable {
  readonly socket: Socket;
  readonly status: number;
  /** By lower-case name; repeated lines joined by ", ". */
  readonly headers: Readonly<Record<string, string>>;
  /** Number of lines with this name. */
  readonly lines: (name: string) => number;
  /** Bytes after the head, if the response is not a WebSocket. */
  readonly body: () => string;
  readonly frames: readonly Frame[];
  readonly send: (text: string) => void;
  readonly received: (count: number) => Promise<readonly Frame[]>;
  readonly ended: () => Promise<void>;
}

export const KEY = 'dGhlIHNhbXBsZSBub25jZQ==';

export const HANDSHAKE: readonly string[] = [
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  `Sec-WebSocket-Key: ${KEY}`,
];

export interface Opening {
  readonly tls?: boolean;
  readonly host?: string;
  readonly lines?: readonly string[];
  /** Sent together with the handshake. */
  readonly behind?: string | Buffer;
}

/** Sends a handshake and resolves with the head of the response, whatever its status. */
export async function openWebSocket(
  port: number,
  path: string,
  { tls = true, host = '127.0.0.1', lines = [], behind = '' }: Opening = {},
): Promise<WebSocketClient> {
  const socket = openSocket(port, { tls });
  let bytes = Buffer.alloc(0);
  // Joined only when there is more to parse: joining at each chunk of a long frame takes most of the time.
  let unread: Buffer[] = [];
  let needed = 0;
  let head: string | undefined;
  let isOver = false;
  const frames: Frame[] = [];
  socket.on('data', (chunk: Buffer) => {
    unread.push(chunk);
    needed -= chunk.length;
    if (needed > 0) return;
    bytes = Buffer.concat([bytes, ...unread]);
    unread = [];
    const split = bytes.indexOf('\r\n\r\n');
    if (head === undefined && split >= 0) {
      head = bytes.subarray(0, split).toString('latin1');
      bytes = bytes.subarray(split + 4);
    }
    if (head?.startsWith('HTTP/1.1 101')) {
      const read = readFrames(bytes);
      frames.push(...read.frames);
      bytes = Buffer.from(read.rest);
      needed = read.needed - bytes.length;
    }
  });
  for (const end of ['end', 'close'])
    socket.once(end, () => {
      isOver = true;
    });
  const asked = [`GET ${path} HTTP/1.1`, `Host: ${host}`, ...HANDSHAKE, ...lines, '', ''].join('\r\n');
  socket.write(Buffer.concat([Buffer.from(asked, 'latin1'), Buffer.from(behind)]));
  await until(() => head !== undefined || isOver);
  const [first = '', ...rest] = (head ?? '').split('\r\n');
  const fields = rest.map((line): [string, string] => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
  });
  const headers: Record<string, string> = {};
  for (const [name, value] of fields)
    headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`;
  return {
    socket,
    status: Number(first.split(' ')[1]),
    headers,
    lines: (name) => fields.filter(([each]) => each === name).length,
    body: () => bytes.toString('latin1'),
    frames,
    send: (text) => void socket.write(frame(TEXT, text, true)),
    received: async (count) => {
      await until(() => frames.length >= count);
      return frames;
    },
    ended: () => until(() => isOver),
    [Symbol.dispose]: () => void socket.destroy(),
  };
}

/** Waits for an effect of another process or of the event loop. */
function until(holds: () => boolean): Promise<void> {
  return vi.waitFor(
    () => {
      if (!holds()) throw new Error('the awaited state did not come');
    },
    { timeout: 20_000, interval: 5 },
  );
}
