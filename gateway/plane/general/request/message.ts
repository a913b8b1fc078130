// Reads Node's request and response objects, where HTTP/1 and HTTP/2 differ.
import type { IncomingMessage, OutgoingHttpHeader, ServerResponse } from 'node:http';
import type { ServerHttp2Stream } from 'node:http2';
import type { HeaderLines } from '../../../exchange/answer-headers.ts';
import type { ExchangeOutcome } from '../../../exchange/exchange.ts';
import type { RequestView } from '../../../exchange/request-view.ts';
import type { PlaneName, PlaneReason } from '../../../plan/bounds.ts';
import { forwardedField } from '../../../upstream/request-headers.ts';
import type { NodeInbound, OpenRequest, RequestPorts } from './open-request.ts';

const NGHTTP2_NO_ERROR = 0;

/** The stream of an HTTP/2 response. Undefined on HTTP/1. */
export function http2StreamOf(res: ServerResponse): ServerHttp2Stream | undefined {
  return 'stream' in res ? (res.stream as ServerHttp2Stream) : undefined;
}

/** Whether the message has framing for a body, for any method. */
export function hasBody(raw: IncomingMessage, res: ServerResponse): boolean {
  const stream = http2StreamOf(res);
  if (stream !== undefined) return !stream.endAfterHeaders;
  const length = raw.headers['content-length'];
  return raw.headers['transfer-encoding'] !== undefined || (length !== undefined && Number(length) > 0);
}

/** @throws for a head that Node refuses to write */
export function writeHead(res: ServerResponse, status: number, { flat }: HeaderLines): void {
  const stream = http2StreamOf(res);
  if (stream === undefined) {
    res.writeHead(status, flat as OutgoingHttpHeader[]);
    return;
  }
  if (stream.destroyed || stream.closed) return;
  // `res.writeHead` would wait for trailers, which costs a frame and a turn of the event loop.
  res.statusCode = status;
  stream.respond([':status', String(status), ...flat] as string[]);
}

export function isComplete(res: ServerResponse): boolean {
  const stream = http2StreamOf(res);
  if (stream === undefined) return res.writableFinished;
  // Node may close a stream before `writableFinished`, and a client may reset the stream after it.
  const unbroken = !stream.aborted && stream.rstCode === NGHTTP2_NO_ERROR;
  return res.writableEnded && (stream.writableFinished || unbroken);
}

/** RFC 9113 §8.1: after a complete response, an HTTP/2 stream need not wait for the rest of the request body. */
export function endWithAnswer(raw: IncomingMessage, res: ServerResponse): void {
  const stream = http2StreamOf(res);
  if (stream === undefined || !hasBody(raw, res)) return;
  stream.once('finish', () => {
    if (!raw.readableEnded) closeOnceEnded(stream);
  });
}

/** Milliseconds between two checks whether END_STREAM is sent. */
const LOOK_AGAIN_MS = 5;

/**
 * A reset before the end of the response would truncate it. Node has no event for END_STREAM, which is sent
 * after `finish` and waits for the socket.
 */
function closeOnceEnded(stream: ServerHttp2Stream): void {
  if (stream.destroyed || stream.closed) return;
  if (stream.state.localClose === 1) stream.close(NGHTTP2_NO_ERROR);
  else setTimeout(closeOnceEnded, LOOK_AGAIN_MS, stream);
}

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

/** Whether the whole body arrived. On HTTP/2, Node emits `end` also for a stream that was reset. */
function endedWhole(raw: IncomingMessage, res: ServerResponse): boolean {
  const stream = http2StreamOf(res);
  return stream === undefined ? raw.complete : !stream.closed && !stream.aborted;
}

/**
 * Limits of framing (SMG-12), which is every octet of the connection that is not an octet of the body. Node's
 * parser does not report chunk extensions. Allowed: FRAMING_AT_FIRST, and FRAMING_EACH per octet of the body.
 */
const FRAMING_EACH = 16;
const FRAMING_AT_FIRST = 64 * 1_024;

/**
 * The result returns whether the framing exceeds its limit. Call it for HTTP/1 before the body is parsed. It
 * counts octets when Node parses them, because the connection may have read later pipelined requests by the
 * time the body is consumed.
 */
function watchFraming(raw: IncomingMessage): () => boolean {
  const { socket } = raw;
  const begun = socket.bytesRead;
  const push = raw.push.bind(raw);
  let octets = 0;
  let ended: number | undefined;
  // The parser calls this while it reads, even without a listener.
  raw.push = (chunk, encoding) => {
    if (chunk === null) ended = socket.bytesRead;
    else octets += chunk.length;
    return push(chunk, encoding);
  };
  return () => (ended ?? socket.bytesRead) - begun - octets > FRAMING_AT_FIRST + FRAMING_EACH * octets;
}

/** Logged status if the client disconnects before a status is sent. */
const CLIENT_DISCONNECTED = 499;

/** `complete`: the whole response was given to the connection. */
export function outcomeOf(open: OpenRequest, complete: boolean): ExchangeOutcome {
  const { raw, res, inbound, view, glimpse, client, switched } = open;
  return {
    method: raw.method ?? '-',
    host: view?.host,
    path: view?.path ?? withoutSecrets(raw.url ?? '-'),
    status: switched ? 101 : res.headersSent ? res.statusCode : CLIENT_DISCONNECTED,
    bytes: open.bytes + (inbound?.bytes ?? 0),
    clientAddress: client.full,
    clientNetwork: client.key,
    scheme: glimpse.scheme,
    protocol: `HTTP/${raw.httpVersion}`,
    aborted: !complete,
    userAgent: raw.headers['user-agent'],
  };
}

/** The target of an unreadable request without its query, user and password. */
function withoutSecrets(target: string): string {
  return target.replace(/\?.*$/s, '').replace(/^([a-z][\w.+-]*:\/\/)[^/]*@/i, '$1');
}

export function planeReason({ headers }: IncomingMessage, isHttp2: boolean, plane: PlaneName): PlaneReason {
  if (isHttp2) return 'http2';
  if (plane === 'general') return 'settings';
  return headers.upgrade === undefined ? 'unusual' : 'upgrade';
}
