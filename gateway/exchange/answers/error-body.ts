// The body of every error that the gateway makes: the specification's form or application/problem+json.
import type { RetryLater } from '../../policy/contract.ts';
import { preferredType } from '../../policy/versioning/accept.ts';
import type { AnswerHeaders } from '../answer-headers.ts';
import type { RequestGlimpse } from '../request-view.ts';

export interface ErrorDescription {
  readonly status: number;
  /** For people. Contains no stack, file path, host name or query text. */
  readonly message: string;
  readonly members: Readonly<Record<string, unknown>>;
  readonly headers: AnswerHeaders;
  /** A problem type with its own members, for clients that read problem+json. */
  readonly problem?: {
    readonly type: string;
    readonly title: string;
    readonly members: Readonly<Record<string, unknown>>;
  };
}

/** IANA reason phrases of RFC 9110. Node's table has older phrases for 413 and 422 (ERR-1). */
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

/** @throws Error for a status missing from the table, which is a bug */
export function reasonPhrase(status: number): string {
  const phrase = REASON_PHRASES[status];
  if (phrase === undefined) throw new Error(`no reason phrase for status ${status}`);
  return phrase;
}

/** For responses that a policy change may revoke: cacheable for one minute (CACHE-5, RET-7). */
export const BRIEFLY_CACHEABLE = 'max-age=60';
export const NO_STORE = 'no-store';

/** The name in Via and Proxy-Status: a token, never a host name (FWD-6, PXS-1). */
export const PSEUDONYM = 'sundial';

/** The Proxy-Status line of an error made by the gateway (RFC 9209). `service`: the alias of the upstream. */
export function proxyStatus(error: string, service?: string): string {
  const hop = service === undefined ? '' : `; next-hop=${service}`;
  return `${PSEUDONYM}; error=${error}${hop}`;
}

/** No cache may store a refusal: the next request may come from another caller. `error`: a type of RFC 9209. */
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

/** A 503 with the retry time as a delay and as an instant (ERR-1, ERR-5). */
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

/** Without a usable Accept, the specification's body is sent: an error never fails negotiation. */
export function wantsProblem({ headers }: RequestGlimpse): boolean {
  return preferredType(headers.get('accept'), ['application/json', PROBLEM_TYPE]) === PROBLEM_TYPE;
}

/**
 * One object for both formats: the members of RFC 9457, then the members `own` of the specification's body. Without its
 * own type, the status and the other members describe the problem (RFC 9457 §4.2.1). A request id chosen by the client
 * may not be a UUID, and then there is no instance.
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
