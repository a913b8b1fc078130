// Turns the head of a request into the view that the exchange judges, or into a refusal.
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

// ERR-7: request ids that a client may set.
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

/** What refusals need before the request is parsed. A trusted proxy names the scheme of the client. */
export function glimpseOf({
  headers,
  scheme,
  address,
}: Pick<ReadingContext, 'headers' | 'scheme' | 'address'>): RequestGlimpse {
  const forwardedValue = address.viaTrusted ? trustedScheme(headers.get('x-forwarded-proto')) : undefined;
  return { scheme: forwardedValue ?? scheme, headers };
}

/** A head with valid field lines and a valid method. */
export interface ReceivedHead {
  readonly method: string;
  readonly url: string;
  readonly httpVersion: string;
  readonly headers: FieldRecord;
  readonly underscored?: readonly string[] | undefined;
}

/** Parses target and authority. `webSocket`: the connection may become a WebSocket. */
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
    // The certificate of a trusted proxy identifies the proxy, not the client.
    clientCertificate: address.viaTrusted ? undefined : connection.certificates?.client,
  };
  // FWD-8: an OPTIONS with Max-Forwards 0 ends here too.
  if (target.kind === 'server' || (method === 'OPTIONS' && isLastHop(raw.headers['max-forwards']))) {
    return { kind: 'server', view };
  }
  const forwardedValue = address.viaTrusted ? raw.headers['x-forwarded-host'] : undefined;
  const forwarded = typeof forwardedValue === 'string' ? readAuthority(forwardedValue) : undefined;
  return { kind: 'view', view, forwardedHost: (forwarded ?? requested.authority).full };
}

/** H2-1, SMG-6, SMG-7: :authority, otherwise absolute-form, otherwise Host. A Host field must be valid and agree. */
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
  // RFC 9112 §3.2: an HTTP/1.1 request without Host is malformed even if its target has an authority.
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

/** Refuses before the exchange: by the mode of the listener, for load, or because the request is malformed. */
export function refusalAtOnce(
  { client, facts }: { readonly client: ClientAddress; readonly facts: Pick<ExchangeFacts, 'start'> },
  reading: RequestReading,
  shed: ShedReason | undefined,
  { scheme, mode, limits }: Pick<ReadingContext, 'scheme'> & Pick<ListenerOptions, 'mode' | 'limits'>,
): Refusal | undefined {
  // TLS-5: plain HTTP serves only this machine and the trusted proxies.
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
