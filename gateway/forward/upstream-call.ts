// One call to one target: sends the request, judges the head, streams the body to the client with backpressure.
// Runs under the forwarder; everything that can go wrong ends in exactly one of onFault and onCut.
import { PassThrough } from 'node:stream';
import type { Dispatcher } from 'undici';
import type { AnswerHeaders } from '../exchange/answer-headers.ts';
import { Fault, type ForwardOrder } from '../exchange/directive.ts';
import type { NoticeOutcome } from '../policy/body-notice/editable.ts';
import { type Connection, type ConnectionAware, openClient } from './connection.ts';
import type { Delivery } from './delivery.ts';
import { errorCode, toFault } from './fault-mapping.ts';
import { holdBody } from './held-body.ts';
import { endedWhole, http2StreamOf, type Inbound } from './inbound.ts';
import type { Route } from './pools.ts';
import { upstreamHeaders } from './request-headers.ts';
import { cleanAnswer } from './response-headers.ts';

export interface CallEvents {
  /** The upstream has answered; its head is given on now or, with its body, later. */
  readonly onAnswered: () => void;
  /** The head is good and clean; the client's head must be written before this returns. */
  readonly onHead: (status: number, headers: AnswerHeaders) => void;
  readonly onEnd: () => void;
  /** What became of the notice in the body, where there was one to add. */
  readonly onNotice: (outcome: NoticeOutcome) => void;
  /** Nothing has been written to the client: an answer can still be made. */
  readonly onFault: (fault: Fault) => void;
  /** The answer broke after its head; the client's connection has been reset. */
  readonly onCut: (fault: Fault) => void;
}

const NGHTTP2_INTERNAL_ERROR = 2;

/** Starts the call and returns how to cancel it. Time-outs are those of the order's upstream, milliseconds. */
export function callUpstream(
  inbound: Inbound,
  order: ForwardOrder,
  route: Route,
  events: CallEvents,
): (reason: Error) => void {
  const { raw, res } = inbound;
  const { timeouts } = order.upstream;
  // The copy lets undici destroy its side of the body without ending the client's connection.
  const body = inbound.hasBody ? raw.pipe(new PassThrough(), { end: false }) : null;
  if (body !== null) {
    raw.once('end', () => {
      if (endedWhole(inbound)) body.end();
      else cancel(new Error('the client cut its body'));
    });
  }
  const options: Dispatcher.DispatchOptions = {
    origin: route.origin,
    path: order.target,
    method: inbound.view.method,
    headers: upstreamHeaders(inbound, order),
    body,
    headersTimeout: timeouts.headers,
    bodyTimeout: timeouts.idle,
  };
  // FWD-16: only a request that may be repeated, and only once.
  let retries = !inbound.hasBody && (options.method === 'GET' || options.method === 'HEAD') ? 1 : 0;
  let controller: Dispatcher.DispatchController | undefined;
  let readBefore = 0;
  let headSent = false;
  let over = false;

  function finish(): void {
    over = true;
    clearTimeout(total);
    inbound.onGone = undefined;
  }

  function fail(cause: unknown): void {
    if (over) return;
    finish();
    if (!headSent) {
      events.onFault(toFault(cause, order));
      return;
    }
    cutShort(inbound);
    events.onCut(toFault(cause, order));
  }

  function cancel(reason: Error): void {
    fail(reason);
    controller?.abort(reason);
  }

  // Pipelining is 1, so nothing else reads from this connection while this call runs.
  function isStale(connection: Connection | undefined, cause: unknown): boolean {
    if (connection === undefined || connection.served === 0 || connection.bytesRead() !== readBefore)
      return false;
    const code = errorCode(cause);
    return code === 'UND_ERR_SOCKET' || code === 'ECONNRESET' || code === 'EPIPE';
  }

  const client: Delivery = {
    head(status, headers) {
      // A head that Node refuses to write throws here and becomes a fault.
      events.onHead(status, headers);
      headSent = true;
      // Node keeps a head back until there is a body; what came together with it has been written by then.
      queueMicrotask(() => {
        if (inbound.bytes === 0 && !res.writableEnded && !res.destroyed) res.flushHeaders();
      });
    },
    data(chunk) {
      inbound.bytes += chunk.length;
      return res.write(chunk);
    },
    end() {
      finish();
      events.onEnd();
    },
  };
  const { notice } = order;
  const delivery =
    notice === undefined
      ? client
      : holdBody({ notice, method: options.method, delivery: client, onOutcome: events.onNotice });

  const handler: ConnectionAware = {
    connection: undefined,
    onRequestStart(started) {
      controller = started;
      readBefore = handler.connection?.bytesRead() ?? 0;
      // Cancelled while it was waiting for a connection.
      if (over) started.abort(new Error('cancelled'));
    },
    onResponseStart(_controller, status, headers) {
      if (over || (status >= 100 && status < 200)) return;
      cleanAnswer(status, headers, order.upstream.name);
      events.onAnswered();
      delivery.head(status, headers);
    },
    onResponseData(current, chunk) {
      if (over) return;
      if (!delivery.data(chunk)) {
        current.pause();
        res.once('drain', () => current.resume());
      }
    },
    onResponseEnd() {
      if (handler.connection !== undefined) handler.connection.served += 1;
      if (over) return;
      delivery.end();
    },
    onResponseError(_controller, cause) {
      if (!over && !headSent && retries > 0 && isStale(handler.connection, cause)) {
        retries -= 1;
        controller = undefined;
        const fresh = openClient(route.origin, route.options);
        fresh.dispatch(options, handler);
        fresh.close(() => undefined);
        return;
      }
      fail(cause);
    },
  };

  const total = setTimeout(
    () =>
      cancel(
        new Fault('upstream_total_timeout', { service: order.upstream.name, timeoutMs: timeouts.total }),
      ),
    timeouts.total,
  );
  inbound.onGone = () => cancel(new Error('the client left'));
  route.pool.dispatch(options, handler);
  route.dispatched();
  return cancel;
}

/** FWD-17: a truncated answer must look truncated: reset, never a clean end. */
function cutShort({ res }: Inbound): void {
  const stream = http2StreamOf(res);
  if (stream === undefined) res.destroy();
  else stream.close(NGHTTP2_INTERNAL_ERROR);
}
