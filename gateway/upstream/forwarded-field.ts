// The Forwarded field for upstreams that want RFC 7239 rather than X-Forwarded-* (XFF-3).
// Made by request-life.ts where the settings ask for it; says the same as those fields.
import { isIPv6 } from 'node:net';
import { PSEUDONYM } from '../exchange/error-body.ts';

export interface ForwardedFacts {
  /** The client first, then proxies that vouch for it, the peer last; comma and blank between them. */
  readonly chain: string;
  /** How the client came, and what it asked for. */
  readonly scheme: 'https' | 'http';
  readonly host: string;
}

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** One element for each hop: the client's with `proto` and `host`, the last with `by`, which names no machine. */
export function forwardedField({ chain, scheme, host }: ForwardedFacts): string {
  const hops = chain.split(', ').map((address) => [`for=${nodeText(address)}`]);
  hops[0]?.push(`proto=${scheme}`, `host=${valueText(host)}`);
  hops.at(-1)?.push(`by=_${PSEUDONYM}`);
  return hops.map((pairs) => pairs.join(';')).join(', ');
}

/** RFC 7239 section 6: an IPv6 address stands in brackets and quotes. A zone is of this machine only. */
function nodeText(address: string): string {
  const [plain = address] = address.split('%', 1);
  return isIPv6(plain) ? `"[${plain}]"` : plain === '' ? 'unknown' : plain;
}

function valueText(value: string): string {
  return TOKEN.test(value) ? value : `"${value}"`;
}
