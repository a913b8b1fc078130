// How a connection to a target of one upstream is made: always verified, with its own trust, certificate, name and address.
// Used by the pools for requests and for the handshakes of WebSockets, which so have the same TLS.
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { Socket } from 'node:net';
import { buildConnector } from 'undici';
import type { UpstreamPlan } from '../../../plan/plan.ts';
import { hostNameOf, type NameLookup } from '../../../upstream/name-lookup.ts';

export interface Reach {
  /** For undici; the socket of each connection is told to `onSocket`. */
  readonly connect: buildConnector.connector;
  /** For connections of their own that begin with HTTP/1.1. */
  readonly agent: HttpAgent;
}

export interface ReachOptions {
  readonly names: NameLookup;
  readonly onSocket: (socket: Socket) => void;
  /** PEM bundle for upstreams that name no authority of their own; default: Node's. */
  readonly ca?: string | undefined;
}

/**
 * Read from one buffer for all connections. Node alone would allocate 64 KiB for each read, however little has come, and
 * hold three such pieces for a client that takes nothing.
 */
const READ_BYTES = 32 * 1_024;
/** Less than one read: a connection with something unread is not read further. */
const UNREAD_BYTES = 16 * 1_024;
const readBuffer = Buffer.allocUnsafeSlow(READ_BYTES);

function pushCopy(this: unknown, length: number, from: Uint8Array): boolean {
  return (this as Socket).push(Buffer.from(from.subarray(0, length)));
}

export function createReach(
  origin: string,
  { tls, http2, timeouts }: UpstreamPlan,
  { names, onSocket, ca = undefined }: ReachOptions,
): Reach {
  const hostName = hostNameOf(origin);
  const trust = tls?.ca ?? ca;
  const options = {
    lookup: names.lookup,
    highWaterMark: UNREAD_BYTES,
    minVersion: 'TLSv1.2',
    rejectUnauthorized: true,
    // Never taken from the Host field, which may name somebody else (FWD-19); an address is no server name.
    servername: tls?.name ?? hostName ?? '',
    ...(trust === undefined ? {} : { ca: trust }),
    ...(tls?.cert === undefined ? {} : { cert: tls.cert }),
    ...(tls?.key === undefined ? {} : { key: tls.key }),
  } as const;
  const connector = buildConnector({
    ...options,
    onread: { buffer: readBuffer, callback: pushCopy },
    allowH2: http2,
    preferH2: http2,
    timeout: timeouts.connect,
  });
  const secure = new URL(origin).protocol === 'https:';
  return {
    connect: ({ servername: _fromHostField, ...target }, callback) =>
      connector(secure ? { ...target, servername: options.servername } : target, (...args) => {
        if (args[0] === null) {
          const [, socket] = args;
          // Prior knowledge (RFC 9113 §3.3): undici goes by what TLS would have agreed on.
          if (http2 && !secure) Object.assign(socket, { alpnProtocol: 'h2' });
          onSocket(socket);
        } else if (hostName !== undefined) names.doubt(hostName);
        callback(...args);
      }),
    agent: secure ? new HttpsAgent(options) : new HttpAgent({ lookup: names.lookup }),
  };
}
