// A request that will be judged, in the form in which upstream/ streams its two bodies.
// Made by request-life.ts once the request has been read.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { forwardedField } from '../../../upstream/request-headers.ts';
import { hasBody, http2StreamOf } from './message.ts';
import type { NodeInbound, OpenRequest, RequestPorts } from './open-request.ts';
import type { Reading } from './request-view.ts';

export function inboundOf(
  open: OpenRequest,
  { view, forwardedHost }: Extract<Reading, { kind: 'view' }>,
  { sendsForwarded, isDraining }: Pick<RequestPorts, 'sendsForwarded' | 'isDraining'>,
): NodeInbound {
  const { raw, res, client } = open;
  return {
    raw,
    res,
    view,
    httpVersion: raw.httpVersion,
    forwardedFor: client.chain,
    forwardedHost,
    forwarded: sendsForwarded
      ? forwardedField({ chain: client.chain, scheme: view.scheme, host: forwardedHost })
      : undefined,
    hasBody: hasBody(raw, res),
    body: raw,
    endedWhole: () => endedWhole(raw, res),
    isPadded:
      raw.httpVersionMajor === 1 && raw.headers['transfer-encoding'] !== undefined
        ? watchFraming(raw)
        : undefined,
    mustClose: () => open.closeAfter || isDraining(),
    bytes: 0,
    gone: false,
    onGone: undefined,
    onClosed: (listener) => void res.once('close', listener),
    sealConnection: () => {
      open.closeAfter = true;
      open.connection.isSealed = true;
    },
  };
}

/** Node also ends the body of an HTTP/2 stream that was reset. */
function endedWhole(raw: IncomingMessage, res: ServerResponse): boolean {
  const stream = http2StreamOf(res);
  return stream === undefined ? raw.complete : !stream.closed && !stream.aborted;
}

/**
 * The parser caps the extensions of each chunk, but tells nobody of them. What a connection has brought beyond the
 * octets of the body is its framing (SMG-12): these many octets for each, and at the start as much as is read at once.
 */
const FRAMING_EACH = 16;
const FRAMING_AT_FIRST = 64 * 1_024;

/**
 * `raw`: HTTP/1, and nothing of its body has been parsed yet. Counts what is parsed and not what is taken: a request behind
 * another one is read before its turn, and what a connection has read by then also holds the requests behind it.
 */
function watchFraming(raw: IncomingMessage): () => boolean {
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
