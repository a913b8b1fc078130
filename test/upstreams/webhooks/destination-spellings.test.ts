// Forbidden destinations are refused and public ones allowed, in any spelling.
import { describe, expect, it } from 'vitest';
import { checkDestination } from '../../../upstreams/webhooks/destination.ts';
import { spellingsOf } from './special-purpose.ts';

const RULES = { allow: [], deny: [] };
const isRefused = (written: string): boolean => checkDestination(written, RULES).kind === 'refused';

const REFUSED: Readonly<Record<string, readonly string[]>> = {
  'a name of this machine': [
    ...[
      'localhost',
      'LOCALHOST',
      'localhost.',
      'localhost。',
      'a.localhost',
      'a.localhost.',
      'ip6-localhost',
    ],
    ...['localhost.localdomain', 'localhost6.localdomain6', 'ip6-loopback', 'broadcasthost', 'loca%6chost'],
    ...['ⓛⓞⓒⓐⓛⓗⓞⓢⓣ', 'ｌｏｃａｌｈｏｓｔ', 'locaⅼhost', 'local\u00adhost', 'local\u200bhost', 'ⓛocalhost.'],
  ],
  'a name that no public server has': [
    ...['redis', 'metadata', 'instance-data', 'metadata.google.internal', 'metadata.goog', 'METADATA.GOOG'],
    ...[
      'ip-10-0-0-1.ec2.internal',
      'kubernetes.default.svc',
      'redis.default.svc.cluster.local',
      'printer.local',
    ],
    ...['router.lan', 'nas.home', 'router.home.arpa', 'ipv4only.arpa', '1.0.0.127.in-addr.arpa', 'wiki.corp'],
    ...['mx.mail', 'db.private', 'wiki.intranet', 'a.test', 'a.example', 'a.invalid', 'a.onion', 'a.alt'],
    ...['example.com.', 'example.com。', 'example.com..', '.example.com', 'example..com', 'a'.repeat(64)],
  ],
};

const URLS: Readonly<Record<string, readonly string[]>> = {
  'another scheme': [
    ...['http://example.com/', 'ws://example.com/', 'wss://example.com/', 'ftp://example.com/', 'data:,a'],
    ...[
      'file:///etc/passwd',
      'gopher://example.com:6379/_a',
      'javascript:alert(1)',
      'about:blank',
      'blob:https://a.com/1',
    ],
    ...[
      'https+unix://example.com/',
      'httpss://example.com/',
      'dict://example.com:11211/',
      'ldap://example.com/',
    ],
  ],
  'what others may read otherwise': [
    ...[
      'https:example.com',
      'https:/example.com',
      'https:///example.com/',
      'https:\\\\example.com\\',
      '//example.com/',
    ],
    ...[
      'https://example.com\\@127.0.0.1/',
      'https://example.com\\.internal/',
      'https://exa\tmple.com/',
      'ht\ntps://example.com/',
    ],
    ...[
      ' https://example.com/',
      '\u0000https://example.com/',
      'https://example.com/\r\nHost: a',
      'https://',
      'https://?',
      '',
    ],
    ...[
      'https://example.com%00.internal/',
      'https://example.com%2f@127.0.0.1/',
      'https://[::1%25lo]/',
      'https://a b.com/',
    ],
    ...[
      'https://xn--a/',
      'https://example.com:443:443/',
      'https://example.com/#part',
      'https://1.2.3.4.5/',
      'https://a.0x7f/',
    ],
  ],
  'a user name': [
    ...['https://user@example.com/', 'https://user:secret@example.com/', 'https://:secret@example.com/'],
    ...['https://example.com@127.0.0.1/', 'https://example.com:443@localhost/', 'https://@example.com/'],
    ...[
      'https://:@example.com/',
      'https://a@b@example.com/',
      'https://%75ser@example.com/',
      'https://@127.0.0.1/',
    ],
  ],
  'another port': [0, 1, 22, 25, 80, 444, 2375, 6379, 8443, 9200, 65_535, 65_536, 4_294_967_739].map(
    (port) => `https://example.com:${port}/`,
  ),
};

describe('a destination is refused', () => {
  it.each(['127.0.0.1', '10.0.0.1', '192.168.1.1', '169.254.169.254', '0.0.0.0'])(
    'WH-7: %s in any spelling',
    (address) => {
      const written = spellingsOf(address).flatMap((each) => [
        `https://${each}/`,
        `https://${each}:443/hooks`,
      ]);
      expect(written.filter((each) => !isRefused(each))).toEqual([]);
    },
  );

  it.each(Object.entries(REFUSED))('WH-7: %s', (_what, names) => {
    expect(names.filter((each) => !isRefused(`https://${each}/`))).toEqual([]);
  });

  it.each(Object.entries(URLS))('WH-7: %s', (_what, urls) => {
    expect(urls.filter((each) => !isRefused(each))).toEqual([]);
  });
});

it('WH-7: a public destination is allowed, in its normal form', () => {
  const usable: Readonly<Record<string, string>> = {
    'https://example.com': 'https://example.com/',
    'HTTPS://EXAMPLE.com/Hooks': 'https://example.com/Hooks',
    'https://example.com:443/hooks?tenant=7': 'https://example.com/hooks?tenant=7',
    'https://example.com:0443/': 'https://example.com/',
    'https://example.com:/': 'https://example.com/',
    'https://example。com/': 'https://example.com/',
    'https://hooks.bücher.de/': 'https://hooks.xn--bcher-kva.de/',
    'https://exa%6dple.com/': 'https://example.com/',
    'https://example.com/user@example.org': 'https://example.com/user@example.org',
    'https://example.com/?to=http://127.0.0.1/': 'https://example.com/?to=http://127.0.0.1/',
    'https://example.com/../a': 'https://example.com/a',
    'https://localhost.example.com/': 'https://localhost.example.com/',
    'https://svc.example.com/': 'https://svc.example.com/',
    'https://mail.corp.example.org/': 'https://mail.corp.example.org/',
    'https://arpa.example.net/': 'https://arpa.example.net/',
    'https://notlocal.de/': 'https://notlocal.de/',
    'https://metadata.google.com/': 'https://metadata.google.com/',
    'https://127.0.0.1.nip.io/': 'https://127.0.0.1.nip.io/', // its address is checked at each attempt
    'https://7f.com/': 'https://7f.com/',
  };
  const found = Object.keys(usable).map((written) => {
    const checked = checkDestination(written, RULES);
    return [written, checked.kind === 'allowed' ? checked.url.href : checked.message];
  });
  expect(Object.fromEntries(found)).toEqual(usable);
});
