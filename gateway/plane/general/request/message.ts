// Node's request and response objects as the rest reads them: HTTP/1 and HTTP/2 differ in how they tell.
import type { IncomingMessage, OutgoingHttpHeader, ServerResponse } from 'node:http';
import type { ServerHttp2Stream } from 'node:http2';
import type { HeaderLines } from '../../../exchange/answer-headers.ts';
import type { ExchangeOutcome } from '../../../exchange/exchange.ts';
import type { RequestView } from '../../../exchange/request-view.ts';
import type { PlaneName, PlaneReason } from '../../../plan/bounds.ts';
import { forwardedField } from '../../../upstream/request-headers.ts';
import type { NodeInbound, OpenRequest, RequestPorts } from './open-request.ts';

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

/** Throws what Node refuses to write. */
export function writeHead(res: ServerResponse, status: number, { flat }: HeaderLines): void {
  const stream = http2StreamOf(res);
  if (stream === undefined) {
    res.writeHead(status, flat as OutgoingHttpHeader[]);
    return;
  }
  if (stream.destroyed || stream.closed) return;
  // The response would wait for trailers that never come, a frame and a round of the event loop later.
  res.statusCode = status;
  stream.respond([':status', String(status), ...flat] as string[]);
}

/** Whether the whole answer was handed to the connection. */
export function isComplete(res: ServerResponse): boolean {
  const stream = http2StreamOf(res);
  if (stream === undefined) return res.writableFinished;
  // Node may close a stream before it says that it has finished; a client may reset one after that.
  const unbroken = !stream.aborted && stream.rstCode === NGHTTP2_NO_ERROR;
  return res.writableEnded && (stream.writableFinished || unbroken);
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
 * A reset would overtake the end of the answer and so break it. Node has no event for END_STREAM, which is sent after `finish`
 * and waits for the socket.
 */
function closeOnceEnded(stream: ServerHttp2Stream): void {
  if (stream.destroyed || stream.closed) return;
  if (stream.state.localClose === 1) stream.close(NGHTTP2_NO_ERROR);
  else setTimeout(closeOnceEnded, LOOK_AGAIN_MS, stream);
}

/** A request that will be judged, in the form in which upstream/ streams its two bodies. */
export function inboundOf(
  open: OpenRequest,
  { view, forwardedHost }: { readonly view: RequestView; readonly forwardedHost: string },
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
 * The parser caps the extensions of each chunk but does not report them. Octets of the connection beyond those of the body
 * are framing (SMG-12): at most this many per octet, and at the start one read.
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
  // The parser calls this while it reads, with or without a listener.
  raw.push = (chunk, encoding) => {
    if (chunk === null) ended = socket.bytesRead;
    else octets += chunk.length;
    return push(chunk, encoding);
  };
  return () => (ended ?? socket.bytesRead) - begun - octets > FRAMING_AT_FIRST + FRAMING_EACH * octets;
}

/** What is observed for a client that left before any status was sent. */
const CLIENT_LEFT = 499;

/** What is observed of a request that has ended; `complete`: its answer was handed over whole. */
export function outcomeOf(open: OpenRequest, complete: boolean): ExchangeOutcome {
  const { raw, res, inbound, view, glimpse, client, switched } = open;
  return {
    method: raw.method ?? '-',
    host: view?.host,
    path: view?.path ?? withoutSecrets(raw.url ?? '-'),
    status: switched ? 101 : res.headersSent ? res.statusCode : CLIENT_LEFT,
    bytes: open.bytes + (inbound?.bytes ?? 0),
    clientAddress: client.full,
    clientNetwork: client.key,
    scheme: glimpse.scheme,
    protocol: `HTTP/${raw.httpVersion}`,
    aborted: !complete,
    userAgent: raw.headers['user-agent'],
  };
}

/** The target of a request that could not be read, without its query and without a user and password. */
function withoutSecrets(target: string): string {
  return target.replace(/\?.*$/s, '').replace(/^([a-z][\w.+-]*:\/\/)[^/]*@/i, '$1');
}

/** Why the fast plane does not have it. */
export function planeReason({ headers }: IncomingMessage, isHttp2: boolean, plane: PlaneName): PlaneReason {
  if (isHttp2) return 'http2';
  if (plane === 'general') return 'settings';
  return headers.upgrade === undefined ? 'unusual' : 'upgrade';
}
