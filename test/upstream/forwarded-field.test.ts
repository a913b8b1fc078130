// The Forwarded field for upstreams (XFF-3).
import { describe, expect, it } from 'vitest';
import { forwardedField } from '../../gateway/upstream/request-headers.ts';

describe('XFF-3: the Forwarded field for', () => {
  it.each([
    ['one hop', '192.0.2.9', 'api.example.com', 'for=192.0.2.9;proto=https;host=api.example.com;by=_sundial'],
    [
      'a port and IPv6, which need quotes',
      '2001:db8::1',
      'api.example.com:8443',
      'for="[2001:db8::1]";proto=https;host="api.example.com:8443";by=_sundial',
    ],
    [
      'an IPv6 host, and an address without its zone',
      'fe80::1%eth0',
      '[2001:db8::7]',
      'for="[fe80::1]";proto=https;host="[2001:db8::7]";by=_sundial',
    ],
    [
      'a chain, the client first',
      '192.0.2.9, 10.0.0.2, 10.0.0.1',
      'a.example',
      'for=192.0.2.9;proto=https;host=a.example, for=10.0.0.2, for=10.0.0.1;by=_sundial',
    ],
    ['a client that has disconnected', '', 'a.example', 'for=unknown;proto=https;host=a.example;by=_sundial'],
  ])('%s', (_title, chain, host, expected) => {
    expect(forwardedField({ chain, scheme: 'https', host })).toBe(expected);
  });
});
