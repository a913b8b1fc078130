// The shape of every error the gateway makes: the specification's body or application/problem+json.
import type { RetryLater } from '../../policy/contract.ts';
import { preferredType } from '../../policy/versioning/accept.ts';
import type { AnswerHeaders } from '../answer-headers.ts';
import type { RequestGlimpse } from '../request-view.ts';

export interface ErrorDescription {
  readonly status: number;
  /** For people; no stack, path of a file, host name or query text. */
  readonly message: string;
  /** Further members of the body, in order. */
  readonly members: Readonly<Record<string, unknown>>;
  readonly headers: AnswerHeaders;
  /** Where the problem has a type of its own, and what that type adds: for readers of problem+json alone. */
  readonly problem?: {
    readonly type: string;
    readonly title: string;
    readonly members: Readonly<Record<string, unknown>>;
  };
}

/** IANA reason phrases by RFC 9110; Node's own table still has older ones for 413 and 422 (ERR-1). */
const REASON_PHRASES: Readonly<Record<number, string>> = {
  200: 'OK',
  204: 'No Content',
  301: 'Moved Permanently',
  304: 'Not Modified',
  308: 'Permanent Redirect',
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  406: 'Not Acceptable',
  408: 'Request Timeout',
  409: 'Conflict',
  410: 'Gone',
  412: 'Precondition Failed',
  413: 'Content Too Large',
  414: 'URI Too Long',
  415: 'Unsupported Media Type',
  417: 'Expectation Failed',
  421: 'Misdirected Request',
  422: 'Unprocessable Content',
  426: 'Upgrade Required',
  429: 'Too Many Requests',
  431: 'Request Header Fields Too Large',
  500: 'Internal Server Error',
  501: 'Not Implemented',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
  505: 'HTTP Version Not Supported',
};

/** @throws Error for a status the gateway never answers with: a mistake in this program. */
export function reasonPhrase(status: number): string {
  const phrase = REASON_PHRASES[status];
  if (phrase === undefined) throw new Error(`no reason phrase for status ${status}`);
  return phrase;
}

/** Answers that may be taken back soon stay cacheable for a minute only (CACHE-5, RET-7). */
export const BRIEFLY_CACHEABLE = 'max-age=60';
export const NO_STORE = 'no-store';

/** This deployment's name in Via and Proxy-Status: a token, never a host name (FWD-6, PXS-1). */
export const PSEUDONYM = 'sundial';

/** The Proxy-Status line of a gateway-made error (RFC 9209). `service` is an upstream's alias. */
export function proxyStatus(error: string, service?: string): string {
  const hop = service === undefined ? '' : `; next-hop=${service}`;
  return `${PSEUDONYM}; error=${error}${hop}`;
}

/** A refusal or a failure: nothing of it may be kept, since the next request may be another's. `error`: the word of RFC 9209. */
export function refuse(
  status: number,
  message: string,
  members: ErrorDescription['members'] = {},
  headers: AnswerHeaders = {},
  error = 'http_request_error',
): ErrorDescription {
  return {
    status,
    message,
    members,
    headers: { 'cache-control': NO_STORE, 'proxy-status': proxyStatus(error), ...headers },
  };
}

/** A 503 says when to come back, as a delay and as an instant (ERR-1, ERR-5). */
export function unavailable(
  message: string,
  { retryAfterSeconds, restoredAt }: RetryLater,
): ErrorDescription {
  return {
    status: 503,
    message,
    members: {
      retryAfter: retryAfterSeconds,
      estimatedRestoration: Temporal.Instant.fromEpochMilliseconds(restoredAt).toString(),
    },
    headers: {
      'cache-control': NO_STORE,
      'proxy-status': proxyStatus('destination_unavailable'),
      'retry-after': String(retryAfterSeconds),
    },
  };
}

export const PROBLEM_TYPE = 'application/problem+json';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Without an Accept that could be read the specification's own body is sent: an error never fails negotiation. */
export function wantsProblem({ headers }: RequestGlimpse): boolean {
  return preferredType(headers.get('accept'), ['application/json', PROBLEM_TYPE]) === PROBLEM_TYPE;
}

/**
 * One object for both readers: the members of RFC 9457 before those of the specification's body `own`. Without a
 * type of its own it is a problem that its status and the other members explain (RFC 9457 §4.2.1). A request id that the client chose
 * need not be a UUID: then there is no instance.
 */
export function problemBody(
  status: number,
  own: { readonly error: string; readonly message: string },
  requestId: string,
  problem?: ErrorDescription['problem'],
): Readonly<Record<string, unknown>> {
  return {
    type: problem?.type ?? 'about:blank',
    title: problem?.title ?? own.error,
    status,
    detail: own.message,
    ...(UUID.test(requestId) ? { instance: `urn:uuid:${requestId}` } : {}),
    ...problem?.members,
    ...own,
  };
}
