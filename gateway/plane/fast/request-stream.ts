// Streams the body of a request to an upstream, with its length if known.
import type { Socket } from 'node:net';
import { Duplex, type Readable } from 'node:stream';
import type { CallRequest } from '../../upstream/call.ts';

const LAST_CHUNK = '0\r\n\r\n';

/** Octets of the body. -1: unknown. Undefined: no body. */
export function lengthOf({ body, fields }: Pick<CallRequest, 'body' | 'fields'>): number | undefined {
  if (body === null) return undefined;
  if (Buffer.isBuffer(body)) return body.length;
  const { flat } = fields.shared;
  for (let at = 0; at < flat.length; at += 2) if (flat[at] === 'content-length') return Number(flat[at + 1]);
  // A body that has arrived completely has a length, whatever its framing.
  const isWhole = body instanceof Duplex && body.writableEnded && body.writableLength === 0;
  return isWhole ? body.readableLength : -1;
}

interface StreamEvents {
  readonly isOver: () => boolean;
  readonly onFailed: (cause: Error) => void;
  readonly onWhole: () => void;
}

/** Writes `head` together with the first octets of the body. `length` -1: chunked. */
export function streamBody(
  body: Readable,
  socket: Socket,
  head: string,
  length: number,
  { isOver, onFailed, onWhole }: StreamEvents,
): void {
  let unsent = head;
  let sent = 0;
  const isChunked = length < 0;
  const resume = (): void => void body.resume();
  body.on('data', (chunk: Buffer) => {
    if (isOver()) return;
    sent += chunk.length;
    if (!isChunked && sent > length) {
      onFailed(new Error('the body is longer than its Content-Length'));
      return;
    }
    socket.cork();
    const before = isChunked ? `${unsent}${chunk.length.toString(16)}\r\n` : unsent;
    unsent = '';
    if (before !== '') socket.write(before, 'latin1');
    let takesMore = socket.write(chunk);
    if (isChunked) takesMore = socket.write('\r\n', 'latin1');
    socket.uncork();
    if (takesMore) return;
    body.pause();
    socket.once('drain', resume);
  });
  body.once('end', () => {
    if (isOver()) return;
    if (!isChunked && sent < length) {
      onFailed(new Error('the body is shorter than its Content-Length'));
      return;
    }
    const rest = isChunked ? unsent + LAST_CHUNK : unsent;
    if (rest !== '') socket.write(rest, 'latin1');
    onWhole();
  });
}
