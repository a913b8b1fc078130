// Facts about a client connection on either plane, cached from one request to the next.
import { type Authority, coversHost, readAuthority } from '../exchange/request-view.ts';
import type { ClientAddress, ConnectionCertificates, ListenerLimits } from './port.ts';

export interface ClientConnection {
  /** The client that opened it, or a trusted proxy. */
  readonly peer: ClientAddress;
  /** Undefined on a plain connection. */
  readonly certificates: ConnectionCertificates | undefined;
  forwarded: { readonly line: string; readonly client: ClientAddress } | undefined;
  host: RequestedHost | undefined;
}

export interface RequestedHost {
  readonly text: string;
  readonly authority: Authority;
  /** The certificate of the connection is not for this host. */
  readonly isMisdirected: boolean;
}

export function createClientConnection(
  peer: ClientAddress,
  certificates: ConnectionCertificates | undefined,
): ClientConnection {
  return { peer, certificates, forwarded: undefined, host: undefined };
}

/** Characters. An idle connection must not hold a long field value in memory. */
const MAX_CACHED_LENGTH = 512;

/** Returns the peer, or the client that a trusted proxy names. */
export function clientOf(
  connection: ClientConnection,
  forwardedFor: string | readonly string[] | undefined,
  clientAddress: ListenerLimits['clientAddress'],
): ClientAddress {
  const { peer, forwarded } = connection;
  if (!peer.viaTrusted || forwardedFor === undefined) return peer;
  const line = typeof forwardedFor === 'string' ? forwardedFor : forwardedFor.join(',');
  if (forwarded?.line === line) return forwarded.client;
  const client = clientAddress(peer.full, line);
  if (line.length <= MAX_CACHED_LENGTH) connection.forwarded = { line, client };
  return client;
}

/** Undefined if `text` is not a valid authority. */
export function requestedHost(connection: ClientConnection, text: string): RequestedHost | undefined {
  const { peer, certificates, host: last } = connection;
  if (last?.text === text) return last;
  const authority = readAuthority(text);
  if (authority === undefined) return undefined;
  const own = certificates?.own;
  // A trusted proxy sends requests for any host on its own connection.
  const isMisdirected = own !== undefined && !peer.viaTrusted && !coversHost(own, authority.host);
  const host = { text, authority, isMisdirected };
  if (text.length <= MAX_CACHED_LENGTH) connection.host = host;
  return host;
}
