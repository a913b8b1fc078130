// One call to one target: sends the request, judges the head, hands on the body with back pressure.
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ClientHttp2Stream } from 'node:http2';
import type { Dispatcher } from 'undici';
import type { AnswerHeaders, HeaderValue } from '../../../exchange/answer-headers.ts';
import { Fault } from '../../../exchange/directive.ts';
import type { CallOptions } from '../../../upstream/call.ts';
import { errorCode } from '../../../upstream/fault-mapping.ts';
import { flatFields } from '../../../upstream/request-headers.ts';
import { cleanAnswer, hasNoContent } from '../../../upstream/response-headers.ts';

/** What is known of the connection a call runs on. */
export interface Connection {
  /** Answers completed on it; zero on a fresh connection. */
  readonly served: () => number;
  /** Whether several calls run on it at a time: then its reads belong to no single call. */
  readonly isShared: () => boolean;
  /** Bytes read from the upstream so far. */
  readonly bytesRead: () => number;
  /** Whether an error has ended it, such as a reset. */
  readonly isBroken: () => boolean;
  /** Call before a request is written. */
  readonly expectAnswer: () => void;
  /** Call when an answer is complete. */
  readonly answered: () => void;
}

/** A handler that wants to know its connection; told before the request is written. */
export interface ConnectionAware extends Dispatcher.DispatchHandler {
  connection: Connection | undefined;
}

/** How a request is given to a connection of one target. */
export type Dispatch = (
  request: Omit<Dispatcher.DispatchOptions, 'origin'>,
  handler: ConnectionAware,
) => void;

/** Interim answers that are passed over: an upstream that makes no end of them makes no answer (FWD-13). */
const MOST_INTERIM = 100;

export function callTarget(options: CallOptions, dispatch: Dispatch): (reason: Error) => void {
  const { delivery, upstream } = options;
  const { name: service } = upstream;
  let controller: Dispatcher.DispatchController | undefined;
  let readBefore = 0;
  let over = false;
  let isCut = (): boolean => false;
  let isFramed = false;
  /** Bytes after the head are discarded. */
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
      if (handler.connection !== undefined)
        isCut = handler.connection.isShared() ? watchNextStream() : handler.connection.isBroken;
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
      isFramed = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
      isBare = hasNoContent(status);
      const lines = cleanAnswer(status, withoutBlanks(headers as AnswerHeaders), upstream);
      options.onAnswered();
      delivery.head(status, lines);
    },
    onResponseData(current, chunk) {
      if (over || isBare || delivery.write(chunk)) return;
      current.pause();
      options.onceDrained(() => current.resume());
    },
    onResponseEnd(current) {
      // FWD-17: undici takes a reset for the end of a body, except where the framing tells it that octets are missing.
      if (!isFramed && isCut()) {
        handler.onResponseError?.(current, Object.assign(new Error('reset'), { code: 'ECONNRESET' }));
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

  const { fields, ...request } = options.request;
  dispatch({ ...request, headers: flatFields(fields) }, handler);
  return (reason) => {
    over = true;
    controller?.abort(reason);
  };
}

const CREATED = 'http2.client.stream.created';

/**
 * Call in the turn in which the stream is opened. The result tells whether that stream ended without END_STREAM: undici
 * takes a reset for an end, of some codes.
 */
function watchNextStream(): () => boolean {
  let cut: boolean | undefined;
  const onCreated = (message: unknown): void => {
    stop();
    const { stream } = message as { readonly stream: ClientHttp2Stream };
    const push = stream.push.bind(stream);
    cut = true;
    // Node ends the readable side at END_STREAM; after a reset it does as well, and the stream counts as closed by then.
    stream.push = (chunk, encoding) => {
      if (chunk === null && !stream.closed) cut = false;
      return push(chunk, encoding);
    };
  };
  const stop = (): void => void unsubscribe(CREATED, onCreated);
  subscribe(CREATED, onCreated);
  queueMicrotask(stop);
  return () => cut === true;
}

/** undici leaves blanks behind a value, which are no part of it (RFC 9110 §5.5). */
function withoutBlanks(headers: AnswerHeaders): AnswerHeaders {
  const hasBlank = (value: string): boolean => value.endsWith(' ') || value.endsWith('\t');
  const trimmed = (value: string): string => value.replace(/[ \t]+$/, '');
  let clean: Record<string, HeaderValue | undefined> | undefined;
  for (const name in headers) {
    const value = headers[name] ?? '';
    if (typeof value === 'string' ? !hasBlank(value) : !value.some(hasBlank)) continue;
    clean ??= { ...headers };
    clean[name] = typeof value === 'string' ? trimmed(value) : value.map(trimmed);
  }
  return clean ?? headers;
}
