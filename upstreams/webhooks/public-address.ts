// Which addresses are somebody else's on the public network. All that is not is refused, also where a name points there:
// the special-purpose registries of IANA (RFC 6890), what is reachable in them included, and multicast.
// Asked for every address of a destination, at every attempt.
import { BlockList, isIP } from 'node:net';

const IPV4_NOT_PUBLIC = [
  ['0.0.0.0', 8], // this network, the unspecified address
  ['10.0.0.0', 8],
  ['100.64.0.0', 10], // shared by carriers
  ['127.0.0.0', 8],
  ['169.254.0.0', 16], // link-local, where clouds keep their metadata
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24], // documentation, as the two further down
  ['192.31.196.0', 24], // where reverse names of private addresses are answered, as the one of 192.175.48
  ['192.52.193.0', 24], // relays of multicast
  ['192.88.99.0', 24], // relays of 6to4
  ['192.168.0.0', 16],
  ['192.175.48.0', 24],
  ['198.18.0.0', 15], // benchmarks
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4], // multicast
  ['240.0.0.0', 4], // reserved, and broadcast
] as const;

/** The only addresses of IPv6 that are given out for the public network. */
const IPV6_GLOBAL = ['2000::', 3] as const;
/** Of these, what leads elsewhere or nowhere: an IPv4 address can hide in some. */
const IPV6_NOT_PUBLIC = [
  ['2001::', 23], // Teredo, benchmarks, ORCHID and what else is for protocols
  ['2001:db8::', 32],
  ['2002::', 16], // 6to4
  ['2620:4f:8000::', 48], // as 192.175.48.0
  ['3fff::', 20],
] as const;

const [ipv4, global, within] = [new BlockList(), new BlockList(), new BlockList()];
for (const [net, prefix] of IPV4_NOT_PUBLIC) ipv4.addSubnet(net, prefix, 'ipv4');
for (const [net, prefix] of IPV6_NOT_PUBLIC) within.addSubnet(net, prefix, 'ipv6');
global.addSubnet(...IPV6_GLOBAL, 'ipv6');

/** WH-7. False also for what is no address. IPv4 in the clothes of IPv6 is outside of the global range, whatever it is. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !ipv4.check(address, 'ipv4');
  return family === 6 && global.check(address, 'ipv6') && !within.check(address, 'ipv6');
}
