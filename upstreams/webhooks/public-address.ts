// Tells public IP addresses from special-purpose ones (IANA registries, RFC 6890, globally reachable ones included) and
// multicast.
import { BlockList, isIP } from 'node:net';

const IPV4_NOT_PUBLIC = [
  ['0.0.0.0', 8], // this network, the unspecified address
  ['10.0.0.0', 8],
  ['100.64.0.0', 10], // carrier-grade NAT
  ['127.0.0.0', 8],
  ['169.254.0.0', 16], // link-local, metadata services of clouds
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24], // documentation, like the two below
  ['192.31.196.0', 24], // AS112 for reverse names of private addresses, like 192.175.48.0
  ['192.52.193.0', 24], // AMT, multicast relays
  ['192.88.99.0', 24], // 6to4 relays
  ['192.168.0.0', 16],
  ['192.175.48.0', 24],
  ['198.18.0.0', 15], // benchmarks
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4], // multicast
  ['240.0.0.0', 4], // reserved, and broadcast
] as const;

/** The only IPv6 addresses allocated for the public network. */
const IPV6_GLOBAL = ['2000::', 3] as const;
/** Parts of it that lead elsewhere or nowhere; some can embed an IPv4 address. */
const IPV6_NOT_PUBLIC = [
  ['2001::', 23], // Teredo, benchmarks, ORCHID and other protocol assignments
  ['2001:db8::', 32],
  ['2002::', 16], // 6to4
  ['2620:4f:8000::', 48], // like 192.175.48.0
  ['3fff::', 20],
] as const;

const [ipv4, global, within] = [new BlockList(), new BlockList(), new BlockList()];
for (const [net, prefix] of IPV4_NOT_PUBLIC) ipv4.addSubnet(net, prefix, 'ipv4');
for (const [net, prefix] of IPV6_NOT_PUBLIC) within.addSubnet(net, prefix, 'ipv6');
global.addSubnet(...IPV6_GLOBAL, 'ipv6');

/** WH-7. False for a text that is not an address. IPv4-mapped IPv6 addresses are outside of the global range. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !ipv4.check(address, 'ipv4');
  return family === 6 && global.check(address, 'ipv6') && !within.check(address, 'ipv6');
}
