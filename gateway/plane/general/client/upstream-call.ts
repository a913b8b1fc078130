// One call to one target: sends the request, checks the response head, streams the body with backpressure.
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ClientHttp2Stream } from 'node:http2';
import type { Dispatcher } from 'undici';
import type { AnswerHeaders, HeaderValue } from '../../../exchange/answer-headers.ts';
import { Fault } from '../../../exchange/directive.ts';
import type { CallOptions } from '../../../upstream/call.ts';
import { errorCode } from '../../../upstream/fault-mapping.ts';
import { flatFields } from '../../../upstream/request-headers.ts';
import { cleanAnswer, hasNoContent } from '../../../upstream/response-headers.ts';

export interface Connection {
  /** Complete responses. Zero on a new connection. */
  readonly served: () => number;
  /** Whether calls share it, so that its octets belong to no single call. */
  readonly isShared: () => boolean;
  readonly bytesRead: () => number;
  readonly isBroken: () => boolean;
  /** Call before a request is written. */
  readonly expectAnswer: () => void;
  readonly answered: () => void;
}

/** `connection` is set before the request is written. */
export interface ConnectionAware extends Dispatcher.DispatchHandler {
  connection: Connection | undefined;
}

export type Dispatch = (
  request: Omit<Dispatcher.DispatchOptions, 'origin'>,
  handler: ConnectionAware,
) => void;

/** Interim responses that are ignored. More are an invalid response (FWD-13). */
const MAX_INTERIM = 100;

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
    // Only this call reads from an HTTP/1.1 connection, because `pipelining` is 1.
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
      // The call was cancelled while it waited for a connection.
      if (over) started.abort(new Error('cancelled'));
    },
    onResponseStart(current, status, headers) {
      // The raw fields would keep the 64 KiB of the first read in memory.
      current.rawHeaders = null;
      if (over) return;
      if (status >= 100 && status < 200) {
        interim += 1;
        if (interim > MAX_INTERIM) throw new Fault('upstream_invalid', { service });
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
      // FWD-17: undici treats a reset as the end of a body, unless the framing shows that octets are missing.
      if (!isFramed && isCut()) {
        handler.onResponseError?.(current, Object.assign(new Error('reset'), { code: 'ECONNRESET' }));
        return;
      }
      if (handler.connection !== undefined) handler.connection.answered();
      if (over) return;
      // `end` throws if Node refuses to write a delayed head. The call then fails.
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
 * Call in the turn in which the stream opens. The result says whether the stream ended without END_STREAM.
 * With some error codes, undici treats a reset as an end.
 */
function watchNextStream(): () => boolean {
  let cut: boolean | undefined;
  const onCreated = (message: unknown): void => {
    stop();
    const { stream } = message as { readonly stream: ClientHttp2Stream };
    const push = stream.push.bind(stream);
    cut = true;
    // Node ends the readable side at END_STREAM and after a reset. After a reset the stream is already closed.
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

/** undici keeps whitespace after a value, which is not part of it (RFC 9110 §5.5). */
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
