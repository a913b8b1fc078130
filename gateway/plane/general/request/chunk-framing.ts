// Whether what stands around the octets of a chunked body is out of all proportion to them (SMG-12).
// Begun by inbound-of.ts with the head of the request; asked by upstream/ while it hands the body on.
import type { IncomingMessage } from 'node:http';

/**
 * The parser caps the extensions of each chunk, but tells nobody of them. What a connection has brought beyond the
 * octets of the body is its framing: these many octets for each, and at the start as much as is read at once.
 */
const FRAMING_EACH = 16;
const FRAMING_AT_FIRST = 64 * 1_024;

/**
 * `raw`: HTTP/1, and nothing of its body has been parsed yet. Counts what is parsed and not what is taken: a request behind
 * another one is read before its turn, and what a connection has read by then also holds the requests behind it.
 */
export function watchFraming(raw: IncomingMessage): () => boolean {
  const { socket } = raw;
  const begun = socket.bytesRead;
  const push = raw.push.bind(raw);
  let octets = 0;
  let ended: number | undefined;
  // What the parser calls in the midst of its reading, whether anybody listens or not.
  raw.push = (chunk, encoding) => {
    if (chunk === null) ended = socket.bytesRead;
    else octets += chunk.length;
    return push(chunk, encoding);
  };
  return () => (ended ?? socket.bytesRead) - begun - octets > FRAMING_AT_FIRST + FRAMING_EACH * octets;
}
