// Tests of allowed and refused destinations.
import { describe, expect, it } from 'vitest';
import { checkDestination } from '../../../upstreams/webhooks/destination.ts';
import { isPublicAddress } from '../../../upstreams/webhooks/public-address.ts';

const RULES = { allow: ['localhost:4007'], deny: [] };

const REFUSED: readonly (readonly [written: string, why: string])[] = [
  ['', 'absolute address'],
  ['/hooks', 'absolute address'],
  ['//example.com/hooks', 'absolute address'],
  ['http://example.com/hooks', 'https://'],
  ['ftp://example.com/', 'https://'],
  ['file:///etc/passwd', 'https://'],
  ['javascript:alert(1)', 'https://'],
  ['https://user@example.com/', 'user name'],
  ['https://:secret@example.com/', 'user name'],
  ['https://example.com/#part', 'fragment'],
  ['https://example.com/#', 'fragment'],
  ['https://example.com:8443/', 'port 443'],
  ['https://example.com:22/', 'port 443'],
  ['https://localhost/', 'public host name'],
  ['https://localhost:4008/', 'port 443'],
  ['https://LOCALHOST/', 'public host name'],
  ['https://hooks.localhost/', 'public host name'],
  ['https://redis/', 'public host name'],
  ['https://metadata.google.internal/', 'public host name'],
  ['https://printer.local/', 'public host name'],
  ['https://example.com./', 'public host name'],
  ['https://127.0.0.1/', 'not an address'],
  ['https://127.1/', 'not an address'],
  ['https://0x7f.1/', 'not an address'],
  ['https://0177.0.0.1/', 'not an address'],
  ['https://2130706433/', 'not an address'],
  ['https://127。0。0。1/', 'not an address'],
  ['https://①②⑦.0.0.1/', 'not an address'],
  ['https://93.184.216.34/', 'not an address'],
  ['https://[::1]/', 'not an address'],
  ['https://[::ffff:169.254.169.254]/', 'not an address'],
  ['https://[::ffff:a9fe:a9fe]/', 'not an address'],
  ['https://[fe80::1]/', 'not an address'],
  ['https://[2606:2800:220:1::1]/', 'not an address'],
  [`https://example.com/${'a'.repeat(2_048)}`, '2048 characters'],
];

describe('a destination', () => {
  it.each(REFUSED)('WH-7: %s is refused: %s', (written, why) => {
    expect(checkDestination(written, RULES)).toEqual({
      kind: 'refused',
      message: expect.stringContaining(why),
    });
  });

  it.each([
    ['https://example.com/hooks'],
    ['https://example.com:443/hooks?tenant=7'],
    ['https://hooks.bücher.example.org/'],
    ['https://localhost.example.com/'],
  ])('WH-7: %s is allowed', (written) => {
    expect(checkDestination(written, RULES)).toMatchObject({ kind: 'allowed', isOurs: false });
  });

  it('WH-7: our own receiver is allowed with its listed port only', () => {
    expect(checkDestination('https://localhost:4007/', RULES)).toMatchObject({
      kind: 'allowed',
      isOurs: true,
    });
  });
});

describe('an address', () => {
  it.each([
    ['0.0.0.0', '0.1.2.3', '10.0.0.1', '100.64.0.1', '100.127.255.255', '127.0.0.1', '127.255.255.254'],
    [
      '169.254.169.254',
      '172.16.0.1',
      '172.31.255.255',
      '192.0.0.1',
      '192.0.2.1',
      '192.88.99.1',
      '192.168.1.1',
    ],
    [
      '198.18.0.1',
      '198.19.255.255',
      '198.51.100.7',
      '203.0.113.9',
      '224.0.0.1',
      '239.255.255.255',
      '240.0.0.1',
    ],
    ['255.255.255.255', '::', '::1', '::127.0.0.1', '::ffff:127.0.0.1', '::ffff:8.8.8.8', '::ffff:0:1.2.3.4'],
    ['64:ff9b::7f00:1', '64:ff9b::808:808', '64:ff9b:1::1', '100::1', '2001::1', '2001:2::1', '2001:10::1'],
    ['2001:db8::1', '2002:7f00:1::', '3fff::1', '5f00::1', 'fc00::1', 'fd12:3456::1', 'fe80::1'],
    ['fe80::1%eth0', 'fec0::1', 'ff02::1', 'ff0e::1', 'fd00:ec2::254', '', 'localhost'],
    ['0x7f.1', '2130706433', '127.1', '01.2.3.4', ' 8.8.8.8', '8.8.8.8:80', '[2606:4700::1]'],
  ])('WH-7: %s is not public, nor are %s, %s, %s, %s, %s, %s', (...addresses) => {
    expect(addresses.filter(isPublicAddress)).toEqual([]);
  });

  it('WH-7: of another network is public, also next to special-purpose blocks', () => {
    const others = [
      ...[
        '8.8.8.8',
        '1.1.1.1',
        '9.255.255.255',
        '11.0.0.0',
        '100.63.255.255',
        '100.128.0.0',
        '126.255.255.255',
      ],
      ...[
        '169.253.255.255',
        '172.15.255.255',
        '172.32.0.0',
        '192.0.1.0',
        '192.167.255.255',
        '223.255.255.255',
      ],
      ...['2606:4700:4700::1111', '2a00:1450::1', '2001:200::1', '2001:4860:4860::8888', '2003::1'],
    ];
    expect(others.filter((address) => !isPublicAddress(address))).toEqual([]);
  });
});
