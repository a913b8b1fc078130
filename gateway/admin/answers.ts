// Responses of the admin listener, independent of framework and socket.
import { reasonPhrase } from '../exchange/answers/error-body.ts';
import type { EpochMs } from '../policy/contract.ts';

const RETRY_AFTER_S = 1;
const RETRY_AFTER = { 'retry-after': String(RETRY_AFTER_S) };

export interface AdminAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export function jsonAnswer(status: number, body: Readonly<Record<string, unknown>>): AdminAnswer {
  return {
    status,
    contentType: 'application/json; charset=utf-8',
    headers: {},
    body: `${JSON.stringify(body)}\n`,
  };
}

/** ERR-1. `message` is for people and must not contain the cause of an error. */
export function errorAnswer(
  status: number,
  message: string,
  members: Readonly<Record<string, unknown>> = {},
): AdminAnswer {
  return jsonAnswer(status, { error: reasonPhrase(status), message, ...members });
}

/** `problems`: sentences, sent joined in `message` and as a list. */
export function malformedBody(problems: readonly string[]): AdminAnswer {
  return errorAnswer(400, `The body cannot be used: ${problems.join('; ')}.`, { problems });
}

export function malformedQuery(problems: readonly string[]): AdminAnswer {
  return errorAnswer(400, `The query cannot be used: ${problems.join('; ')}.`, { problems });
}

/** ERR-5. After a write, the store may hold the change although it did not confirm it. */
export function storeUnavailable({ wrote }: { readonly wrote: boolean }): AdminAnswer {
  const advice = wrote ? 'Check whether the change was made, then retry.' : 'Retry the request.';
  const message = `The store does not answer. ${advice}`;
  return { ...errorAnswer(503, message, { retryAfter: RETRY_AFTER_S }), headers: RETRY_AFTER };
}

/** ERR-5. A count without them could say that a version is safe to retire. */
export function callsNotStored(): AdminAnswer {
  const message = 'The store cannot be written, so recent calls are missing. The log has the reason. Retry.';
  return { ...errorAnswer(503, message, { retryAfter: RETRY_AFTER_S }), headers: RETRY_AFTER };
}

/** ERR-5. Not 404: the store may hold data that this process has not read. */
export function storeNotYetRead(what: string): AdminAnswer {
  const message = `The store has not answered since this gateway started, so ${what} is unknown. Retry.`;
  return { ...errorAnswer(503, message, { retryAfter: RETRY_AFTER_S }), headers: RETRY_AFTER };
}

/** ERR-5. The store responds, but not with everything in time. */
export function storeTooSlow(seconds: number, advice: string): AdminAnswer {
  const message = `The store did not return all records within ${seconds} seconds. ${advice}`;
  return { ...errorAnswer(503, message, { retryAfter: RETRY_AFTER_S }), headers: RETRY_AFTER };
}

/** RFC 9110 section 13.1.2: 304 if If-None-Match names the ETag, by weak comparison. */
export function orNotModified(answer: AdminAnswer, ifNoneMatch: string | undefined): AdminAnswer {
  const { etag } = answer.headers;
  if (etag === undefined || ifNoneMatch === undefined || answer.status !== 200) return answer;
  const known = ifNoneMatch.split(',').map((each) => each.trim().replace(/^W\//, ''));
  return known.includes('*') || known.includes(etag) ? { ...answer, status: 304, body: '' } : answer;
}

/** RFC 3339 in UTC. */
export function instantText(instant: EpochMs): string {
  return Temporal.Instant.fromEpochMilliseconds(instant).toString();
}

/** Null for an instant that is not set or never comes. */
export function instantOrNull(instant: EpochMs | undefined): string | null {
  return instant === undefined || !Number.isFinite(instant) ? null : instantText(instant);
}

/** `code`: of Node's HTTP parser. 501 for an unknown method (ERR-4). */
export function malformedAnswer(code: string | undefined): AdminAnswer {
  switch (code) {
    case 'HPE_INVALID_METHOD':
      return errorAnswer(501, 'The request method is unknown.');
    case 'HPE_INVALID_VERSION':
      return errorAnswer(505, 'The protocol version is not supported.');
    case 'HPE_HEADER_OVERFLOW':
      return errorAnswer(431, 'The request header fields are too large.');
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return errorAnswer(408, 'The request took too long to arrive.');
    default:
      return errorAnswer(400, 'The request is malformed.');
  }
}

/** Serialises the response for a connection that is closed after it. */
export function rawAnswer({ status, contentType, body }: AdminAnswer): string {
  return [
    `HTTP/1.1 ${status} ${reasonPhrase(status)}`,
    `content-type: ${contentType}`,
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
    '',
    body,
  ].join('\r\n');
}
