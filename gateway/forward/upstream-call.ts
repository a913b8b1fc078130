// One call to one target: sends the request, judges the head, hands on the body with back pressure.
// Runs under attempts.ts, which decides what becomes of a failure.
import type { Dispatcher } from 'undici';
import type { AnswerHeaders } from '../exchange/answer-headers.ts';
import { Fault } from '../exchange/directive.ts';
import type { Connection, ConnectionAware } from './connection.ts';
import type { Delivery } from './delivery.ts';
import { errorCode } from './fault-mapping.ts';
import type { Route } from './pools.ts';
import { cleanAnswer, hasNoContent } from './response-headers.ts';
import { watchNextStream } from './stream-end.ts';

/** What is known of a call that failed before the client had anything of it. */
export interface Failure {
  readonly cause: unknown;
  /** Not a byte of the request has left: there never was a connection. */
  readonly unsent: boolean;
  /** The connection ended without a byte of an answer. */
  readonly unanswered: boolean;
  /** It had served others before: the upstream may have ended it while this request was under way. */
  readonly stale: boolean;
}

export interface CallOptions {
  readonly route: Route;
  readonly request: Dispatcher.DispatchOptions;
  /** On a connection of its own. */
  readonly fresh: boolean;
  /** Alias of the upstream. */
  readonly service: string;
  readonly delivery: Delivery;
  /** A connection takes the request: from now on the target may know of it. */
  readonly onSending: () => void;
  /** Called when the client's side takes bytes again, once for each time that `delivery` refused more. */
  readonly onceDrained: (resume: () => void) => void;
  readonly onAnswered: () => void;
  /** At most one of these two, and neither after the call was given up. */
  readonly onEnd: () => void;
  readonly onFailure: (failure: Failure) => void;
}

/** Interim answers that are passed over: an upstream that makes no end of them makes no answer (FWD-13). */
const MOST_INTERIM = 100;

/** Starts the call and returns how to give it up: the upstream then never sees the request as complete. */
export function callTarget(options: CallOptions): (reason: Error) => void {
  const { route, request, delivery, service } = options;
  let controller: Dispatcher.DispatchController | undefined;
  let readBefore = 0;
  let over = false;
  let isCut = (): boolean => false;
  let hasLength = false;
  /** What comes behind the head all the same goes to nobody. */
  let isBare = false;
  let interim = 0;

  function isUntouched(connection: Connection, cause: unknown): boolean {
    const code = errorCode(cause);
    const ended = code === 'UND_ERR_SOCKET' || code === 'ECONNRESET' || code === 'EPIPE';
    // Nothing else reads from an HTTP/1.1 connection while this call runs: pipelining is 1.
    return ended && (connection.isShared() || connection.bytesRead() === readBefore);
  }

  const handler: ConnectionAware = {
    connection: undefined,
    onRequestStart(started) {
      controller = started;
      options.onSending();
      handler.connection?.expectAnswer();
      readBefore = handler.connection?.bytesRead() ?? 0;
      if (handler.connection?.isShared()) isCut = watchNextStream();
      // Given up while it was waiting for a connection.
      if (over) started.abort(new Error('cancelled'));
    },
    onResponseStart(current, status, headers) {
      // Views of the first read, which keep its 64 KB for as long as the answer lasts.
      current.rawHeaders = null;
      if (over) return;
      if (status >= 100 && status < 200) {
        interim += 1;
        if (interim > MOST_INTERIM) throw new Fault('upstream_invalid', { service });
        return;
      }
      answered = true;
      hasLength = headers['content-length'] !== undefined;
      isBare = hasNoContent(status);
      cleanAnswer(status, headers as AnswerHeaders, service);
      options.onAnswered();
      delivery.head(status, headers as AnswerHeaders);
    },
    onResponseData(current, chunk) {
      if (over || isBare || delivery.data(chunk)) return;
      current.pause();
      options.onceDrained(() => current.resume());
    },
    onResponseEnd(current) {
      // With a length undici has counted that all of it is here.
      if (!hasLength && isCut()) {
        handler.onResponseError?.(
          current,
          Object.assign(new Error('reset'), { code: 'ERR_HTTP2_STREAM_ERROR' }),
        );
        return;
      }
      if (handler.connection !== undefined) handler.connection.answered();
      if (over) return;
      // A held head that Node refuses to write throws here and becomes a failure.
      delivery.end();
      over = true;
      options.onEnd();
    },
    onResponseError(_controller, cause) {
      if (over) return;
      over = true;
      const { connection } = handler;
      const unanswered = !answered && connection !== undefined && isUntouched(connection, cause);
      options.onFailure({
        cause,
        unsent: controller === undefined,
        unanswered,
        stale: unanswered && connection.served() > 0,
      });
    },
  };
  let answered = false;

  if (options.fresh) route.dispatchFresh(request, handler);
  else route.dispatch(request, handler);
  route.dispatched();
  return (reason) => {
    over = true;
    controller?.abort(reason);
  };
}
