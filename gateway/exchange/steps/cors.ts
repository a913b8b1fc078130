// CORS (Fetch standard): preflights, and which origins may read a response or open a WebSocket.

import type { ApiPlan, CorsRules } from '../../plan/plan.ts';
import { FIELD } from '../../plan/upstreams/answer-fields.ts';
import { ANY_ORIGIN } from '../../policy/cors/origin.ts';
import type { HeaderLines } from '../answer-headers.ts';
import type { RequestRefusal } from '../directive.ts';
import type { Publication } from '../publish/publication.ts';
import { OFFERED_METHODS, type RequestGlimpse, type RequestView } from '../request-view.ts';

/** ORD-5: response fields that pages can read only if they are listed. */
const EXPOSED = exposing([
  'Deprecation',
  'Sunset',
  'Link',
  'Warning',
  'X-API-Deprecation-Info',
  'ETag',
  'Location',
  'Retry-After',
  'RateLimit',
  'RateLimit-Policy',
  'Idempotency-Replayed',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-Request-ID',
]);
const EXPOSED_WITH_ECHO = exposing([
  EXPOSED.text,
  'X-API-Version-Requested',
  'X-API-Version-Served',
  'X-API-Lifecycle-Stage',
]);
/** Fields that a page may send, besides the API's headers for versions and keys. */
const SENDABLE = new Set([
  'accept',
  'accept-language',
  'api-version',
  'authorization',
  'content-language',
  'content-type',
  'idempotency-key',
  'if-match',
  'if-modified-since',
  'if-none-match',
  'if-range',
  'if-unmodified-since',
  'range',
  'x-request-id',
]);
const PREFLIGHT_SECONDS = 600;
const ALLOWED_METHODS = OFFERED_METHODS.join(', ');

/**
 * The response to a preflight. Browsers send it without token or version, so neither authentication nor a
 * sunset or a limit may refuse it (ORD-4). Undefined for other requests, and if the API has no `cors`.
 */
export function answerPreflight(
  { cors, versionHeaders, keyHeaders }: ApiPlan,
  view: RequestView,
): Publication | undefined {
  const { headers, method } = view;
  if (cors === undefined || method !== 'OPTIONS') return undefined;
  if (headers.get('origin') === undefined || headers.get('access-control-request-method') === undefined)
    return undefined;
  const vary = 'Access-Control-Request-Method, Access-Control-Request-Headers';
  // An origin that is not listed gets no CORS fields, so the browser does not send the request.
  if (allowedOrigin(cors, headers.get('origin')) === undefined)
    return { status: 204, headers: { vary }, body: '' };
  const own = [...versionHeaders, ...keyHeaders];
  const granted = listOf(headers.get('access-control-request-headers'))
    .map((name) => name.toLowerCase())
    .filter((name) => SENDABLE.has(name) || own.includes(name));
  return {
    status: 204,
    headers: {
      'access-control-allow-methods': ALLOWED_METHODS,
      'access-control-allow-headers': granted.length === 0 ? undefined : [...new Set(granted)].join(', '),
      'access-control-max-age': String(PREFLIGHT_SECONDS),
      vary,
    },
    body: '',
  };
}

/** Cookies belong to a host with any port. */
const ANY_PORT = /^(?::\d{1,5})?$/;

/**
 * WS-4: refuses a WebSocket of a page that is neither listed nor on the API's own host. Browsers open
 * WebSockets from any page without a preflight and with the user's cookies. A handshake without Origin does
 * not come from a browser. Undefined for other requests, and if the API has no `cors`: then the upstream sees
 * the Origin and decides.
 */
export function refuseOrigin(
  { cors }: ApiPlan,
  { headers, webSocket, scheme, host }: RequestView,
): RequestRefusal | undefined {
  if (cors === undefined || !webSocket) return undefined;
  const origin = headers.get('origin');
  if (origin === undefined) return undefined;
  if (allowedOrigin(cors, origin) !== undefined) return undefined;
  const own = `${scheme}://${host}`;
  const isOwn = origin.startsWith(own) && ANY_PORT.test(origin.slice(own.length));
  return isOwn ? undefined : { reason: 'origin_not_allowed' };
}

/**
 * Replaces the upstream's CORS fields. For an allowed origin, fields that the upstream exposes stay exposed.
 * Cookies are never allowed.
 */
export function setCorsFields(
  headers: HeaderLines,
  cors: CorsRules,
  echo: boolean,
  { headers: requestHeaders }: RequestGlimpse,
): void {
  const hasCors = headers.has(FIELD.cors);
  const exposed = hasCors ? headers.get('access-control-expose-headers') : undefined;
  if (hasCors)
    for (const name of ['access-control-allow-credentials', 'access-control-expose-headers'])
      headers.remove(name);
  const origin = allowedOrigin(cors, requestHeaders.get('origin'));
  headers.set('access-control-allow-origin', origin, FIELD.cors);
  if (origin === undefined) return;
  const { text, names } = echo ? EXPOSED_WITH_ECHO : EXPOSED;
  const theirs = listOf(exposed).filter((name) => !names.has(name.toLowerCase()));
  headers.add('access-control-expose-headers', [text, ...theirs].join(', '), FIELD.cors);
}

function exposing(fields: readonly string[]): { readonly text: string; readonly names: ReadonlySet<string> } {
  const text = fields.join(', ');
  return { text, names: new Set(listOf(text).map((name) => name.toLowerCase())) };
}

function allowedOrigin({ origins }: CorsRules, origin: string | undefined): string | undefined {
  if (origins.has(ANY_ORIGIN)) return ANY_ORIGIN;
  return origin !== undefined && origins.has(origin) ? origin : undefined;
}

function listOf(field: string | readonly string[] | undefined): readonly string[] {
  const text = typeof field === 'string' ? field : (field?.join(',') ?? '');
  return text.split(',').flatMap((name) => name.trim() || []);
}
