// Small readings of Node's request and response objects that HTTP/1 and HTTP/2 answer differently.
// Used by request-life.ts.
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ServerHttp2Stream } from 'node:http2';

const NGHTTP2_NO_ERROR = 0;

/** The stream behind an HTTP/2 answer; undefined on HTTP/1. */
export function http2StreamOf(res: ServerResponse): ServerHttp2Stream | undefined {
  return 'stream' in res ? (res.stream as ServerHttp2Stream) : undefined;
}

/** Whether the message has framing for a body, whatever its method. */
export function hasBody(raw: IncomingMessage, res: ServerResponse): boolean {
  const stream = http2StreamOf(res);
  if (stream !== undefined) return !stream.endAfterHeaders;
  const length = raw.headers['content-length'];
  return raw.headers['transfer-encoding'] !== undefined || (length !== undefined && Number(length) > 0);
}

/** Whether the whole answer was handed to the connection. */
export function isComplete(res: ServerResponse): boolean {
  const stream = http2StreamOf(res);
  if (stream === undefined) return res.writableFinished;
  // Node may close a stream before it says that it has finished; a client may reset one after that.
  const unbroken = !stream.aborted && stream.rstCode === NGHTTP2_NO_ERROR;
  return res.writableEnded && (stream.writableFinished || unbroken);
}

// ERR-7: what a client may choose as its request id.
const REQUEST_ID = /^[A-Za-z0-9-]{8,64}$/;

export function requestIdOf({ headers }: IncomingMessage): string {
  const chosen = headers['x-request-id'];
  return typeof chosen === 'string' && REQUEST_ID.test(chosen) ? chosen : randomUUID();
}

/** The target without its query, for what is observed of a request that could not be read. */
export function pathOf(raw: IncomingMessage): string {
  const url = raw.url ?? '-';
  const mark = url.indexOf('?');
  return mark < 0 ? url : url.slice(0, mark);
}

/** RFC 9113 §8.1: with the answer complete the rest of a body is not wanted, and an HTTP/2 stream need not wait for it. */
export function endWithAnswer(raw: IncomingMessage, res: ServerResponse): void {
  const stream = http2StreamOf(res);
  if (stream === undefined || !hasBody(raw, res)) return;
  stream.once('finish', () => {
    if (!raw.readableEnded) closeOnceEnded(stream);
  });
}

/** Milliseconds between two looks whether END_STREAM has left. */
const LOOK_AGAIN_MS = 5;

/**
 * A reset overtakes what is still to be sent, the end of the answer among it, and an answer without its end is a broken one.
 * Node tells nobody when END_STREAM goes out; it is later than `finish`, and waits for the socket.
 */
function closeOnceEnded(stream: ServerHttp2Stream): void {
  if (stream.destroyed || stream.closed) return;
  if (stream.state.localClose === 1) stream.close(NGHTTP2_NO_ERROR);
  else setTimeout(closeOnceEnded, LOOK_AGAIN_MS, stream);
}
