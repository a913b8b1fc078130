// What is known of a client connection on any plane, and remembered for the next request on it.
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

/** Characters: an idle connection must not keep a long field line. */
const LONGEST_REMEMBERED = 512;

/** The client of a request: only a trusted proxy names another than its peer. */
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
  if (line.length <= LONGEST_REMEMBERED) connection.forwarded = { line, client };
  return client;
}

/** Undefined when `text` is no valid authority. */
export function requestedHost(connection: ClientConnection, text: string): RequestedHost | undefined {
  const { peer, certificates, host: last } = connection;
  if (last?.text === text) return last;
  const authority = readAuthority(text);
  if (authority === undefined) return undefined;
  const own = certificates?.own;
  // A trusted proxy has a connection of its own, whatever its clients ask for.
  const isMisdirected = own !== undefined && !peer.viaTrusted && !coversHost(own, authority.host);
  const host = { text, authority, isMisdirected };
  if (text.length <= LONGEST_REMEMBERED) connection.host = host;
  return host;
}
