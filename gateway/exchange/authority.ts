// Host and port of a request, judged once (RFC 9112 §3.2, RFC 9113 §8.3.1).
// Read when a listener or `explain` makes a RequestView; nothing else looks at Host.

// A name or an IPv4 address, or a bracketed IPv6 address; no user information, no percent-encoding.
const AUTHORITY = /^([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]{2,45}\])(?::([0-9]{1,5}))?$/;

export interface Authority {
  /** Lower case, without port. */
  readonly host: string;
  /** Lower case, with the port as sent. */
  readonly full: string;
}

/** Undefined when it is not a plain `host[:port]` (SMG-6). */
export function readAuthority(value: string): Authority | undefined {
  const match = AUTHORITY.exec(value);
  if (match?.[1] === undefined) return undefined;
  if (match[2] !== undefined && Number(match[2]) > 65_535) return undefined;
  const full = value.toLowerCase();
  return { host: match[2] === undefined ? full : match[1].toLowerCase(), full };
}

/** Whether two authorities name the same place once the scheme's default port is left out (H2-1). */
export function sameAuthority(one: Authority, other: Authority, scheme: 'https' | 'http'): boolean {
  const suffix = scheme === 'https' ? /:443$/ : /:80$/;
  return one.full.replace(suffix, '') === other.full.replace(suffix, '');
}

/** Whether a certificate for `names` (lower case, `*.` matches one label) is for `host`, which has no port (TLS-4). */
export function speaksFor({ names }: { readonly names: readonly string[] }, host: string): boolean {
  const name = host.startsWith('[') ? host.slice(1, -1) : host;
  return names.includes(name) || names.includes(wildcardOf(name));
}

export function wildcardOf(name: string): string {
  return name.replace(/^[^.]+/, '*');
}
