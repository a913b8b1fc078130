// Checks that a target accepts connections: DNS lookup, TCP connection, TLS certificate.
import { connect as connectPlain, isIP } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { connectionFault } from '../connection-words.ts';
import type { LiveCheckBounds } from './live-attempts.ts';

/** Like `tls` of a policy, with texts instead of paths. */
export interface TargetTls {
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  readonly name?: string | undefined;
}

/** The problem, or undefined. `origin`: http or https. */
export async function reachTarget(
  origin: string,
  tls: TargetTls | undefined,
  { signal, seconds }: LiveCheckBounds,
): Promise<string | undefined> {
  const { protocol, hostname, port } = new URL(origin);
  const secure = protocol === 'https:';
  const host = hostname.replace(/^\[|\]$/g, '');
  const address = { host, port: Number(port) || (secure ? 443 : 80) };
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const socket = secure
    ? connectTls({ ...address, ...withServerName(host, tls) }, resolve)
    : connectPlain(address, resolve);
  const abort = () => reject(signal.reason);
  socket.once('error', reject);
  signal.addEventListener('abort', abort, { once: true });
  try {
    await promise;
    return undefined;
  } catch (error) {
    return connectionFault(error, seconds);
  } finally {
    signal.removeEventListener('abort', abort);
    socket.destroy();
  }
}

/** An IP address is not a server name (RFC 6066 §3). */
function withServerName(host: string, { name, ca, cert, key }: TargetTls = {}) {
  const servername = name ?? (isIP(host) === 0 ? host : undefined);
  return {
    ...(servername !== undefined && { servername }),
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
  };
}
