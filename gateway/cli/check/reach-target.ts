// Whether something takes connections at an address: the name is looked up, the port opened, the certificate verified.
import { connect as connectPlain, isIP } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { connectionFault } from '../connection-words.ts';
import type { LiveCheckBounds } from './live-attempts.ts';

/** As a policy's `tls` has it, with texts in place of paths. */
export interface TargetTls {
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  readonly name?: string | undefined;
}

/** What is wrong, or undefined. `origin` is http or https. */
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

/** An address is no server name (RFC 6066 section 3). */
function withServerName(host: string, { name, ca, cert, key }: TargetTls = {}) {
  const servername = name ?? (isIP(host) === 0 ? host : undefined);
  return {
    ...(servername !== undefined && { servername }),
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
  };
}
