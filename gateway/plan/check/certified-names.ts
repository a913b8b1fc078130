// Whether a host that clients are sent to has a certificate at the TLS listener (TLS-3, TLS-4).
import type { Finding } from '../read/document.ts';

/** What of the gateway decides whether a client is held to the names of its certificates. */
export interface PublicTls {
  readonly public: string | undefined;
  readonly trustedProxies: readonly string[];
  readonly certificates: readonly { readonly names: readonly string[] }[];
}

/** Undefined where no client is held to them: plain HTTP, a proxy in front, or a pair that is made for every host. */
export function certifiedNames(face: PublicTls): readonly string[] | undefined {
  const { public: origin, trustedProxies, certificates } = face;
  if (!origin?.startsWith('https:') || trustedProxies.length > 0 || certificates.length === 0)
    return undefined;
  return certificates.flatMap(({ names }) => names);
}

/** A name that no certificate is for ends the handshake, an address is 421. `host` without a port. */
export function uncertified(hosts: readonly string[], names: readonly string[]): Finding | undefined {
  const missing = hosts
    .map((host) => host.replace(/^\[|\]$/g, ''))
    .filter((host) => !isCertified(host, names));
  if (missing.length === 0) return undefined;
  return {
    rule: 'certificate',
    severity: 'warning',
    message: `no certificate is for ${missing.slice(0, 3).join(', ')}: no client gets through to it`,
  };
}

function isCertified(host: string, names: readonly string[]): boolean {
  return names.includes(host) || names.includes(host.replace(/^[^.]+/, '*'));
}
