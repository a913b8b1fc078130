// What is known of a client connection: found when it opens, read for each of its requests.
// Kept on the socket itself, where HTTP/2's stand-in for a socket shows it too.
import type { Socket } from 'node:net';
import { readAuthority, speaksFor } from '../../../exchange/request-view.ts';
import type { ClientAddress, Intake, ShownCertificates, TlsFace } from '../../port.ts';
import type { ConnectionFacts, RequestedHost } from '../request/open-request.ts';

/** Characters: an idle connection must not keep a long field line. */
const LONGEST_REMEMBERED = 512;

const FACTS = Symbol('connection facts');

export function connectionFacts(
  socket: Socket & { [FACTS]?: ConnectionFacts },
  clientAddress: Intake['clientAddress'],
  tls: Pick<TlsFace, 'shown'> | undefined,
): ConnectionFacts {
  const known = socket[FACTS];
  if (known !== undefined) return known;
  const peer = clientAddress(socket.remoteAddress ?? '', undefined);
  const found = createConnectionFacts(peer, tls?.shown(socket));
  socket[FACTS] = found;
  return found;
}

export function createConnectionFacts(
  peer: ClientAddress,
  certificates: ShownCertificates | undefined,
): ConnectionFacts {
  const nothingYet = {
    forwarded: undefined,
    host: undefined,
    isSealed: false,
    latest: undefined,
    unanswered: 0,
  };
  return { peer, certificates, ...nothingYet };
}

/** The client of a request: only a trusted proxy names another than its peer. */
export function clientOf(
  connection: ConnectionFacts,
  forwardedFor: string | readonly string[] | undefined,
  clientAddress: Intake['clientAddress'],
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
export function requestedHost(connection: ConnectionFacts, text: string): RequestedHost | undefined {
  const { peer, certificates, host: last } = connection;
  if (last?.text === text) return last;
  const authority = readAuthority(text);
  if (authority === undefined) return undefined;
  const own = certificates?.own;
  // A trusted proxy has a connection of its own, whatever its clients ask for.
  const isMisdirected = own !== undefined && !peer.viaTrusted && !speaksFor(own, authority.host);
  const host = { text, authority, isMisdirected };
  if (text.length <= LONGEST_REMEMBERED) connection.host = host;
  return host;
}
