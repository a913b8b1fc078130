// From a raw HTTP/1 or HTTP/2 request to the view the exchange judges, or to a refusal.
// The first thing that happens to a request; every later step reads the view (ORD-2).
import type { IncomingMessage } from 'node:http';
import type { Refusal, RequestRefusal } from '../../../exchange/directive.ts';
import { plainRefusal } from '../../../exchange/plain-http.ts';
import {
  METHODS,
  type RequestGlimpse,
  type RequestView,
  readAuthority,
  readTarget,
  sameAuthority,
  type Trace,
} from '../../../exchange/request-view.ts';
import {
  expectationRefusal,
  type HeadBounds,
  type RequestHead,
  strictnessRefusal,
} from '../../../exchange/strictness.ts';
import type { ShedReason } from '../../../plan/bounds.ts';
import type { Fields } from '../../../policy/contract.ts';
import type { ClientAddress } from '../../port.ts';
import { handshakeRefusal, mayUpgrade } from '../connection/handshake.ts';
import {
  type ConnectionFacts,
  type OpenRequest,
  type RequestedHost,
  type RequestPorts,
  requestedHost,
} from './open-request.ts';

const OFFERED: ReadonlySet<string> = new Set(METHODS);

export type Reading =
  | { readonly kind: 'view'; readonly view: RequestView; readonly forwardedHost: string }
  /** `OPTIONS *`, answered by the listener itself. */
  | { readonly kind: 'server'; readonly view: RequestView }
  | { readonly kind: 'refused'; readonly refusal: RequestRefusal };

export interface ReadingContext {
  /** Of the connection. */
  readonly scheme: 'https' | 'http';
  readonly isHttp2: boolean;
  readonly connection: ConnectionFacts;
  readonly headers: Fields;
  readonly address: ClientAddress;
  readonly requestId: string;
  readonly trace: Trace | undefined;
  readonly bounds: HeadBounds;
}

const refused = (message: string): Reading => ({
  kind: 'refused',
  refusal: { reason: 'request_malformed', status: 400, message },
});

/** What is known of a request before it is read: a trusted proxy says how the client came. */
export function glimpseOf({
  headers,
  scheme,
  address,
}: Pick<ReadingContext, 'headers' | 'scheme' | 'address'>): RequestGlimpse {
  const told = address.viaTrusted ? trustedScheme(headers.get('x-forwarded-proto')) : undefined;
  return { scheme: told ?? scheme, headers };
}

/** Reads `raw`, whose `url` must be the target as received. */
export function readRequest(raw: IncomingMessage & RequestHead, context: ReadingContext): Reading {
  const { isHttp2, connection, address, requestId, trace, bounds } = context;
  const refusal = strictnessRefusal(raw, isHttp2, bounds);
  if (refusal !== undefined) return { kind: 'refused', refusal };
  const method = raw.method ?? '';
  if (!OFFERED.has(method)) return { kind: 'refused', refusal: { reason: 'method_unknown', method } };
  if (isHttp2 && raw.headers[':scheme'] !== context.scheme) {
    return refused('The :scheme does not fit the connection.');
  }
  const unsound =
    (raw.headers.upgrade === undefined ? undefined : handshakeRefusal(raw)) ?? expectationRefusal(raw);
  if (unsound !== undefined) return { kind: 'refused', refusal: unsound };
  const target = readTarget(raw.url ?? '', method);
  if (target.kind === 'malformed') return refused(target.message);
  const absolute = target.kind === 'resource' ? target.absolute : undefined;
  // RFC 9110 §7.4: whoever asks for an https URL in the clear is not answered as if it were one. A trusted proxy may.
  if (absolute?.scheme === 'https' && context.scheme === 'http' && !address.viaTrusted)
    return refused('The scheme of the target does not fit the connection.');
  const requested = hostOf(raw, context, absolute?.authority);
  if (requested === undefined) return refused('The request needs exactly one valid authority.');
  const view: RequestView = {
    method,
    scheme: glimpseOf(context).scheme,
    host: requested.authority.host,
    misdirected: requested.isMisdirected,
    webSocket: raw.headers.upgrade !== undefined && mayUpgrade(raw),
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
  const told = address.viaTrusted ? raw.headers['x-forwarded-host'] : undefined;
  const forwarded = typeof told === 'string' ? readAuthority(told) : undefined;
  return { kind: 'view', view, forwardedHost: (forwarded ?? requested.authority).full };
}

/** H2-1, SMG-6, SMG-7: :authority, else absolute-form, else Host; a Host that is there must be valid and agree. */
function hostOf(
  raw: IncomingMessage,
  { isHttp2, scheme, connection }: ReadingContext,
  absolute: string | undefined,
): RequestedHost | undefined {
  const { host } = raw.headers;
  const fromHost = host === undefined ? undefined : requestedHost(connection, host);
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
  { client, facts }: OpenRequest,
  reading: Reading,
  shed: ShedReason | undefined,
  { scheme, mode, intake }: Pick<RequestPorts, 'scheme' | 'mode' | 'intake'>,
): Refusal | undefined {
  // TLS-5: what is served in the clear is for this machine and the proxies in front of it.
  if (mode !== 'serve' || (scheme === 'http' && !client.isNear)) {
    const effective = mode === 'serve' ? 'reject' : mode;
    return plainRefusal(effective, reading.kind === 'view' ? reading.view : undefined, facts.start.plan);
  }
  if (shed !== undefined) {
    intake.report.shed(shed);
    return intake.overloaded();
  }
  return reading.kind === 'refused' ? reading.refusal : undefined;
}
