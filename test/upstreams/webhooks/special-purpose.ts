// The special-purpose address blocks (IANA), and other spellings and IPv6 forms of an address.

/** IANA IPv4 Special-Purpose Address Registry (RFC 6890), nested entries included, and multicast. */
export const IPV4_BLOCKS = [
  ...['0.0.0.0/8', '0.0.0.0/32', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16'],
  ...['172.16.0.0/12', '192.0.0.0/24', '192.0.0.0/29', '192.0.0.8/32', '192.0.0.9/32', '192.0.0.10/32'],
  ...['192.0.0.170/31', '192.0.2.0/24', '192.31.196.0/24', '192.52.193.0/24', '192.88.99.0/24'],
  ...['192.88.99.2/32', '192.168.0.0/16', '192.175.48.0/24', '198.18.0.0/15', '198.51.100.0/24'],
  ...['203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4', '255.255.255.255/32'],
] as const;

/** IANA IPv6 Special-Purpose Address Registry, multicast, and the deprecated forms. */
export const IPV6_BLOCKS = [
  ...['::/128', '::1/128', '::/96', '::ffff:0:0/96', '::ffff:0:0:0/96', '64:ff9b::/96', '64:ff9b:1::/48'],
  ...['100::/64', '100:0:0:1::/64', '2001::/23', '2001::/32', '2001:1::1/128', '2001:1::2/128'],
  ...['2001:1::3/128', '2001:2::/48', '2001:3::/32', '2001:4:112::/48', '2001:10::/28', '2001:20::/28'],
  ...['2001:30::/28', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3fff::/20', '5f00::/16'],
  ...['fc00::/7', 'fe80::/10', 'fec0::/10', 'ff00::/8'],
] as const;

export interface Block {
  readonly bits: 32 | 128;
  readonly first: bigint;
  readonly last: bigint;
}

export function blockOf(written: string): Block {
  const [address = '', length = ''] = written.split('/');
  const bits = address.includes(':') ? 128 : 32;
  const first = numberOf(address);
  return { bits, first, last: first + 2n ** BigInt(bits - Number(length)) - 1n };
}

function numberOf(address: string): bigint {
  if (!address.includes(':'))
    return address.split('.').reduce((sum, each) => sum * 256n + BigInt(Number(each)), 0n);
  const [head = '', tail] = address.split('::');
  const groups = (text: string) => (text === '' ? [] : text.split(':'));
  const [before, after] = [groups(head), groups(tail ?? '')];
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => '0');
  return [...before, ...zeros, ...after].reduce((sum, each) => sum * 65_536n + BigInt(`0x${each}`), 0n);
}

export function addressOf(number: bigint, bits: 32 | 128): string {
  const [width, count] = bits === 32 ? [8n, 4] : [16n, 8];
  const parts = Array.from({ length: count }, (_, index) => {
    const part = (number >> (width * BigInt(count - 1 - index))) & (2n ** width - 1n);
    return part.toString(bits === 32 ? 10 : 16);
  });
  return parts.join(bits === 32 ? '.' : ':');
}

/** IPv6 addresses that embed an IPv4 address or lead to it. */
export function hiddenIn6(address: string): readonly string[] {
  const number = Number(numberOf(address));
  const hex = (value: number) => `${(value >>> 16).toString(16)}:${(value & 0xffff).toString(16)}`;
  return [
    ...[`::ffff:${address}`, `::ffff:${hex(number)}`, `0:0:0:0:0:FFFF:${hex(number)}`], // mapped
    ...[`::${address}`, `::${hex(number)}`], // compatible
    `::ffff:0:${address}`, // translated
    ...[`64:ff9b::${address}`, `64:ff9b:1::${address}`], // NAT64
    ...[`2002:${hex(number)}::1`, `2002:${hex(number)}:0:0:0:0:0:0`], // 6to4
    `2001:0:4136:e378:8000:63bf:${hex(~number)}`, // Teredo, as the client
    `fe80::5efe:${address}`, // ISATAP
  ];
}

/** Spellings that URL parsers read as this IPv4 address. */
export function spellingsOf(address: string): readonly string[] {
  const number = Number(numberOf(address));
  const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number);
  const octal = (value: number) => `0${value.toString(8)}`;
  const hex = (value: number) => `0x${value.toString(16)}`;
  const wide = (text: string) => text.replace(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit)));
  return [
    ...[String(number), hex(number), octal(number), hex(number).toUpperCase()],
    ...[
      [a, b, c, d].map(hex).join('.'),
      [a, b, c, d].map(octal).join('.'),
      `${hex(a)}.${octal(b)}.${c}.${d}`,
    ],
    ...[`${a}.${b}.${c * 256 + d}`, `${a}.${number & 0xffffff}`], // of three parts, and of two
    ...[`${address}.`, `${number}.`],
    ...['。', '．', '｡'].map((dot) => address.replaceAll('.', dot)),
    wide(address),
    address.replaceAll('.', '%2e'),
    address.replace(/\d/, (digit) => `%3${digit}`),
    `00${a}.${b}.${c}.${d}`.replace(/^00(\d)$/, '$1'),
  ];
}
