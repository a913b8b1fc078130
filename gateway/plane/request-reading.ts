// From the head of a request to the view the exchange judges, or to a refusal.
import { randomUUID } from 'node:crypto';
import type { Refusal, RequestRefusal } from '../exchange/directive.ts';
import type { ExchangeFacts } from '../exchange/facts.ts';
import {
  type RequestGlimpse,
  type RequestView,
  readAuthority,
  readTarget,
  sameAuthority,
  type Trace,
} from '../exchange/request-view.ts';
import { plainRefusal } from '../exchange/steps/plain-http.ts';
import type { ShedReason } from '../plan/bounds.ts';
import type { FieldRecord, Fields } from '../policy/contract.ts';
import { type ClientConnection, type RequestedHost, requestedHost } from './client-connection.ts';
import type { ClientAddress, ListenerOptions } from './port.ts';

// ERR-7: what a client may choose as its request id.
const REQUEST_ID = /^[A-Za-z0-9-]{8,64}$/;

export function requestIdOf({ headers }: { readonly headers: FieldRecord }): string {
  const chosen = headers['x-request-id'];
  return typeof chosen === 'string' && REQUEST_ID.test(chosen) ? chosen : randomUUID();
}

export type RequestReading =
  | { readonly kind: 'view'; readonly view: RequestView; readonly forwardedHost: string }
  /** `OPTIONS *`, answered by the listener itself. */
  | { readonly kind: 'server'; readonly view: RequestView }
  | { readonly kind: 'refused'; readonly refusal: RequestRefusal };

export interface ReadingContext {
  readonly scheme: 'https' | 'http';
  readonly isHttp2: boolean;
  readonly connection: ClientConnection;
  readonly headers: Fields;
  readonly address: ClientAddress;
  readonly requestId: string;
  readonly trace: Trace | undefined;
}

const refused = (message: string): RequestReading => ({
  kind: 'refused',
  refusal: { reason: 'request_malformed', status: 400, message },
});

/** What is known of a request before it is read: a trusted proxy says how the client came. */
export function glimpseOf({
  headers,
  scheme,
  address,
}: Pick<ReadingContext, 'headers' | 'scheme' | 'address'>): RequestGlimpse {
  const forwardedValue = address.viaTrusted ? trustedScheme(headers.get('x-forwarded-proto')) : undefined;
  return { scheme: forwardedValue ?? scheme, headers };
}

/** The head of a message whose field lines and method are in order. */
export interface ReceivedHead {
  readonly method: string;
  readonly url: string;
  readonly httpVersion: string;
  readonly headers: FieldRecord;
  readonly underscored?: readonly string[] | undefined;
}

/** Reads target and authority of `raw`. `webSocket`: its connection may become one. */
export function readResource(raw: ReceivedHead, webSocket: boolean, context: ReadingContext): RequestReading {
  const { method } = raw;
  const { connection, address, requestId, trace } = context;
  const target = readTarget(raw.url, method);
  if (target.kind === 'malformed') return refused(target.message);
  const absolute = target.kind === 'resource' ? target.absolute : undefined;
  // RFC 9110 §7.4: an https URL over plain HTTP is misdirected, unless a trusted proxy sends it.
  if (absolute?.scheme === 'https' && context.scheme === 'http' && !address.viaTrusted)
    return refused('The scheme of the target does not fit the connection.');
  const requested = hostOf(raw, context, absolute?.authority);
  if (requested === undefined) return refused('The request needs exactly one valid authority.');
  const view: RequestView = {
    method,
    scheme: glimpseOf(context).scheme,
    host: requested.authority.host,
    misdirected: requested.isMisdirected,
    webSocket,
    path: target.kind === 'resource' ? target.path : '/',
    search: target.kind === 'resource' ? target.search : '',
    headers: context.headers,
    underscored: raw.underscored,
    clientAddress: address.key,
    viaTrusted: address.viaTrusted,
    requestId,
    trace,
    // That of a trusted proxy says who the proxy is.
    clientCertificate: address.viaTrusted ? undefined : connection.certificates?.client,
  };
  // FWD-8: an OPTIONS whose last hop this is ends here as well.
  if (target.kind === 'server' || (method === 'OPTIONS' && isLastHop(raw.headers['max-forwards']))) {
    return { kind: 'server', view };
  }
  const forwardedValue = address.viaTrusted ? raw.headers['x-forwarded-host'] : undefined;
  const forwarded = typeof forwardedValue === 'string' ? readAuthority(forwardedValue) : undefined;
  return { kind: 'view', view, forwardedHost: (forwarded ?? requested.authority).full };
}

/** H2-1, SMG-6, SMG-7: :authority, else absolute-form, else Host; a Host that is there must be valid and agree. */
function hostOf(
  raw: ReceivedHead,
  { isHttp2, scheme, connection }: ReadingContext,
  absolute: string | undefined,
): RequestedHost | undefined {
  const { host } = raw.headers;
  const fromHost = typeof host === 'string' ? requestedHost(connection, host) : undefined;
  if (host !== undefined && fromHost === undefined) return undefined;
  if (isHttp2) {
    const pseudo = raw.headers[':authority'];
    if (typeof pseudo !== 'string') return fromHost;
    const named = requestedHost(connection, pseudo);
    if (named === undefined || fromHost === undefined) return named;
    return sameAuthority(named.authority, fromHost.authority, scheme) ? named : undefined;
  }
  if (absolute === undefined) return fromHost;
  // RFC 9112 §3.2: an HTTP/1.1 request without Host is malformed even when its target names an authority.
  return fromHost === undefined && raw.httpVersion === '1.1'
    ? undefined
    : requestedHost(connection, absolute);
}

function isLastHop(maxForwards: string | readonly string[] | undefined): boolean {
  return typeof maxForwards === 'string' && /^0+$/.test(maxForwards);
}

function trustedScheme(value: string | undefined): 'https' | 'http' | undefined {
  const last = value?.slice(value.lastIndexOf(',') + 1).trim();
  return last === 'https' || last === 'http' ? last : undefined;
}

/** Why a request is refused before anything is judged: by this listener's mode, for load, or because it cannot be read. */
export function refusalAtOnce(
  { client, facts }: { readonly client: ClientAddress; readonly facts: Pick<ExchangeFacts, 'start'> },
  reading: RequestReading,
  shed: ShedReason | undefined,
  { scheme, mode, limits }: Pick<ReadingContext, 'scheme'> & Pick<ListenerOptions, 'mode' | 'limits'>,
): Refusal | undefined {
  // TLS-5: what is served in the clear is for this machine and the proxies in front of it.
  if (mode !== 'serve' || (scheme === 'http' && !client.isNear)) {
    const effective = mode === 'serve' ? 'reject' : mode;
    return plainRefusal(effective, reading.kind === 'view' ? reading.view : undefined, facts.start.plan);
  }
  if (shed !== undefined) {
    limits.report.shed(shed);
    return limits.overloaded();
  }
  return reading.kind === 'refused' ? reading.refusal : undefined;
}
