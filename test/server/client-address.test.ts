// The client address behind trusted proxies (XFF-1, XFF-2).
import { describe, expect, it } from 'vitest';
import { createClientAddress } from '../../gateway/server/client-address.ts';

describe('the client behind trusted proxies', () => {
  const ask = createClientAddress(['10.0.0.0/8', 'fd00::/8']);

  it.each([
    ['XFF-1: an untrusted peer cannot set the address', '192.0.2.9', '6.6.6.6', '192.0.2.9', '192.0.2.9'],
    ['a trusted peer without a chain is the client', '10.0.0.1', undefined, '10.0.0.1', '10.0.0.1'],
    [
      'XFF-2: the first untrusted address from the right is the client',
      '10.0.0.1',
      '6.6.6.6, 192.0.2.9, 10.0.0.2',
      '192.0.2.9',
      '192.0.2.9, 10.0.0.2, 10.0.0.1',
    ],
    [
      'an invalid entry ends the chain',
      '10.0.0.1',
      '192.0.2.9, unknown, 10.0.0.2',
      '10.0.0.2',
      '10.0.0.2, 10.0.0.1',
    ],
    ['an IPv4 proxy may be in IPv6 form', '::ffff:10.0.0.1', '192.0.2.9', '192.0.2.9', '192.0.2.9, 10.0.0.1'],
    ['proxies may use IPv6', 'fd00::1', '2001:db8::7', '2001:db8::7', '2001:db8::7, fd00::1'],
  ])('%s', (_name, peer, forwardedFor, full, chain) => {
    expect(ask(peer, forwardedFor)).toMatchObject({ full, chain });
  });

  it.each([
    ['192.0.2.9:4711', '192.0.2.9', '192.0.2.9'],
    ['192.0.2.9:0', '192.0.2.9', '192.0.2.9'],
    ['[2001:db8::7]:443', '2001:db8::7', '2001:db8:0:0::/64'],
    ['[2001:db8::7]', '2001:db8::7', '2001:db8:0:0::/64'],
    ['2001:0DB8:0:0::0007', '2001:db8::7', '2001:db8:0:0::/64'],
    ['::ffff:c000:209', '192.0.2.9', '192.0.2.9'],
    ['::FFFF:192.0.2.9', '192.0.2.9', '192.0.2.9'],
    ['[::ffff:c000:209]:443', '192.0.2.9', '192.0.2.9'],
    ['0:0:0:0:0:ffff:c000:0209', '192.0.2.9', '192.0.2.9'],
    ['fe80::1%eth0', 'fe80::1', 'fe80:0:0:0::/64'],
  ])('XFF-2: %s in the chain is one address in any notation', (hop, full, key) => {
    const chain = `${full}, 10.0.0.2, 10.0.0.1`;
    expect(ask('10.0.0.1', `6.6.6.6, ${hop}, ::ffff:a00:2`)).toMatchObject({ full, key, chain });
    expect(ask('::ffff:10.0.0.1', `${hop},[::ffff:10.0.0.2]:80`)).toMatchObject({ full, key, chain });
  });

  it.each([
    ...[
      '[192.0.2.9]:80',
      '192.0.2.9:',
      '192.0.2.9:port',
      '192.0.2.9:123456',
      '[2001:db8::7',
      '2001:db8::7]:1',
    ],
    ...['_hidden', 'unknown:80', '192.0.2.9 10.0.0.1', '1.2.3', '01.2.3.4', ''],
  ])('XFF-2: %j is no address and ends the chain', (hop) => {
    expect(ask('10.0.0.1', `192.0.2.1, ${hop}, 10.0.0.2`)).toMatchObject({ full: '10.0.0.2' });
  });

  it('XFF-2: a trusted proxy may be configured in either form of its address', () => {
    const mapped = createClientAddress(['::ffff:10.0.0.0/104', '2001:DB8:0::/48']);
    for (const peer of ['10.0.0.1', '::ffff:10.0.0.1', '2001:db8::1'])
      expect(mapped(peer, '192.0.2.9:80')).toMatchObject({ full: '192.0.2.9', viaTrusted: true });
  });

  it.each([
    ['192.0.2.9', '192.0.2.9'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:0db8:1:2::6', '2001:db8:1:2::/64'],
    ['2001:db8::6', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ])('limits for %s are kept for %s', (peer, key) => {
    expect(createClientAddress([])(peer, undefined).key).toBe(key);
  });

  it.each([
    ['TLS-5: a client on this machine', '127.0.0.1', true],
    ['any loopback address', '127.9.9.9', true],
    ['a loopback address in IPv6', '::1', true],
    ['a mapped loopback address', '::ffff:127.0.0.1', true],
    ['a trusted proxy', '10.0.0.1', true],
    ['an untrusted peer', '192.0.2.9', false],
    ['an untrusted IPv6 peer', '2001:db8::1', false],
    ['a closed connection', '', false],
  ])('%s may use plain HTTP: %s %s', (_name, peer, isNear) => {
    expect(ask(peer, '127.0.0.1').isNear).toBe(isNear);
  });

  it('addresses share a key only within the same /64', () => {
    const key = (peer: string): string => createClientAddress([])(peer, undefined).key;
    expect(key('2001:db8:1:2::1')).toBe(key('2001:db8:1:2:ffff::9'));
    expect(key('2001:db8:1:2::1')).not.toBe(key('2001:db8:1:3::1'));
  });

  it('a configured proxy that is not an address is refused', () => {
    expect(() => createClientAddress(['proxy.internal'])).toThrow('proxy.internal');
  });
});
