// The address of the client behind trusted proxies (XFF-1, XFF-2).
import { BlockList, isIP, isIPv6, SocketAddress } from 'node:net';
import type { ListenerLimits } from '../plane/port.ts';

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

/** `proxies`: addresses and CIDR networks. @throws for any other text */
export function createClientAddress(proxies: readonly string[]): ListenerLimits['clientAddress'] {
  const trusted = new BlockList();
  for (const entry of proxies) {
    const [address = '', prefix] = entry.split('/');
    const family = isIPv6(address) ? 'ipv6' : 'ipv4';
    if (isIP(address) === 0) throw new Error(`not an address or network: ${entry}`);
    trusted.addSubnet(
      address,
      prefix === undefined ? (family === 'ipv6' ? 128 : 32) : Number(prefix),
      family,
    );
  }
  const isTrusted = (address: string): boolean => isIn(trusted, address);

  return (peer, forwardedFor) => {
    const nearest = unmapped(peer);
    if (proxies.length === 0 || !isTrusted(nearest)) {
      const isNear = isIn(LOOPBACK, nearest);
      return { full: nearest, key: limitKey(nearest), chain: nearest, viaTrusted: false, isNear };
    }
    let client = nearest;
    const vouched: string[] = [nearest];
    const hops = forwardedFor === undefined ? [] : forwardedFor.split(',');
    // From right to left: a hop is trusted only if a trusted hop reported it.
    for (let index = hops.length - 1; index >= 0; index -= 1) {
      const hop = addressIn((hops[index] ?? '').trim());
      if (hop === undefined) break;
      vouched.unshift(hop);
      client = hop;
      if (!isTrusted(hop)) break;
    }
    return { full: client, key: limitKey(client), chain: vouched.join(', '), viaTrusted: true, isNear: true };
  };
}

function isIn(list: BlockList, address: string): boolean {
  return list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}

/** With or without a port: `192.0.2.9:4711`, `[2001:db8::7]:4711`. */
const HOP = /^(?:\[([^\]]+)\]|([\d.]+))(?::\d{1,5})?$/;

/** The normalised address, so that limits, logs and upstreams see one form. Undefined if the entry has none. */
function addressIn(entry: string): string | undefined {
  const [, bracketed, dotted] = HOP.exec(entry) ?? [];
  const address = bracketed ?? dotted ?? entry;
  if (isIPv6(address)) return unmapped(new SocketAddress({ address, family: 'ipv6' }).address);
  return bracketed === undefined && isIP(address) === 4 ? address : undefined;
}

/** The system reports a mapped IPv4 address with dots. */
function unmapped(address: string): string {
  return address.startsWith('::ffff:') && address.includes('.') ? address.slice(7) : address;
}

function limitKey(address: string): string {
  if (!address.includes(':')) return address;
  const [head = '', tail] = (address.split('%', 1)[0] ?? '').split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const groups =
    tail === undefined
      ? left
      : [...left, ...Array<string>(Math.max(0, 8 - left.length - right.length)).fill('0'), ...right];
  const network = groups.slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16));
  return `${network.join(':')}::/64`;
}
