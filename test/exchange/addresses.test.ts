// FWD-9: how addresses written by a service are mapped for its client, case by case.
import { describe, expect, it } from 'vitest';
import { addressesToKeep, mapAnswer } from '../../gateway/exchange/addresses/answer-addresses.ts';
import { HeaderLines } from '../../gateway/exchange/answer-headers.ts';
import { type MappedService, mapped, orderOf, TARGET } from './mapped-service.ts';

type Row = readonly [what: string, sent: string, got: string | undefined];

const location = (service: MappedService, sent: string) =>
  mapped(service, { location: sent }).headers.location;

function rows(service: MappedService, table: readonly Row[]): void {
  it.each(table)('%s: %s becomes %s', (_what, sent, got) => {
    expect(location(service, sent)).toBe(got);
  });
}

describe('with a version in the path', () => {
  rows({}, [
    ['a path below that of the service', '/bookings/9', '/v1/bookings/9'],
    ['the path of the service', '/bookings', '/v1/bookings'],
    ['with a query', '/bookings?page=2', '/v1/bookings?page=2'],
    ['with a fragment', '/bookings/9#rooms', '/v1/bookings/9#rooms'],
    ['a trailing slash', '/bookings/', '/v1/bookings/'],
    ['a path that only begins like it', '/bookings-old/9', '/bookings-old/9'],
    ['another case', '/Bookings/9', '/Bookings/9'],
    ['another path', '/login', '/login'],
    ['the path of the client', '/v1/bookings/9', '/v1/bookings/9'],
    ['a sibling', '9', '9'],
    ['a sibling by a dot', './9', './9'],
    ['one level up', '../bookings/9', '../bookings/9'],
    ['two levels up', '../../bookings/9', '/v1/bookings/9'],
    ['two levels up, to the path of the client', '../../v1/bookings/9', '../../v1/bookings/9'],
    ['dot segments that return to the path', '/x/../bookings/9', '/v1/bookings/9'],
    ['dot segments that leave the path', '/bookings/../admin', '/bookings/../admin'],
    ['a relative path that leaves the path', '../admin', '/admin'],
    ['a query alone', '?page=2', '?page=2'],
    ['a fragment alone', '#rooms', '#rooms'],
    ['an empty value', '', ''],
    ['encoded letters', '/%62ookings/%39', '/v1/bookings/9'],
    ['encoded dots', '/x/%2e%2E/bookings/9', '/v1/bookings/9'],
    ['an encoded slash', '/bookings/a%2fb', '/v1/bookings/a%2Fb'],
    ['an encoded slash is no boundary', '/bookings%2F9', '/bookings%2F9'],
    ['an empty segment', '/bookings//9', '/v1/bookings//9'],
    ['a blank', '/bookings/a b', '/v1/bookings/a%20b'],
    ['octets of UTF-8', '/bookings/\u00c3\u00a9', '/v1/bookings/%C3%A9'],
  ]);
});

describe('with an authority', () => {
  const service = { targets: [TARGET, 'https://10.0.0.8'], host: 'bookings.internal' };
  const there = 'https://api.example.com/v1/bookings/9';
  rows(service, [
    ['of a target', `${TARGET}/bookings/9`, there],
    ['of another target', 'https://10.0.0.8/bookings/9', there],
    ['with the default port', 'https://10.0.0.8:443/bookings/9', there],
    ['with another scheme', 'http://10.0.0.8/bookings/9', there],
    ['with the port of the other scheme', 'http://10.0.0.8:443/bookings/9', there],
    ['in another case', 'HTTP://Bookings.INTERNAL/bookings/9', there],
    ['with a final dot', 'http://bookings.internal./bookings/9', there],
    [
      'a path that ends in the name of a host',
      '/bookings/all:bookings.internal',
      '/v1/bookings/all:bookings.internal',
    ],
    ['a path with a handle', '/bookings/@bookings.internal', '/v1/bookings/@bookings.internal'],
    ['with userinfo', 'http://user:secret@10.0.0.7:4101/bookings/9', there],
    ['as a number', 'http://167772167:4101/bookings/9', there],
    ['encoded', 'http://%31%30.0.0.7:4101/bookings/9', there],
    ['without a scheme', '//10.0.0.7:4101/bookings/9', there],
    ['without a scheme, backslashes', '\\\\10.0.0.7:4101/bookings/9', there],
    ['without a scheme, both slashes', '/\\10.0.0.7:4101/bookings/9', there],
    ['without a scheme, a tab', '/\t/10.0.0.7:4101/bookings/9', there],
    ['of its Host, with the port of the target', 'http://bookings.internal:4101/bookings/9', there],
    ['of the forwarded host', 'http://api.example.com/bookings/9', there],
    ['with the path of the client', 'http://10.0.0.7:4101/v1/bookings/9', there],
    ['without a path', 'http://10.0.0.7:4101', 'https://api.example.com/'],
    ['for a WebSocket', 'ws://10.0.0.7:4101/bookings/9', 'wss://api.example.com/v1/bookings/9'],
    ['in two joined lines', '/bookings/9, http://10.0.0.7:4101/bookings/9', undefined],
    ['twice', 'http://10.0.0.7:4101/bookings/9, http://10.0.0.7:4101/x', undefined],
    ['outside the service path', 'http://10.0.0.7:4101/internal/x', 'https://api.example.com/internal/x'],
    [
      'with a path that looks like a host',
      'http://10.0.0.7:4101//evil.test/x',
      'https://api.example.com//evil.test/x',
    ],
    ['of another host', 'https://login.example.net/bookings/9', 'https://login.example.net/bookings/9'],
    ['of another host, kept as written', 'HTTPS://Login.example.net:443', 'HTTPS://Login.example.net:443'],
    ['at another port', 'http://10.0.0.7:9/bookings/9', 'http://10.0.0.7:9/bookings/9'],
    ['of another host, about a target', `https://x.test/?to=${TARGET}`, `https://x.test/?to=${TARGET}`],
    ['that ends like its Host', 'http://my-bookings.internal/x', 'http://my-bookings.internal/x'],
    ['that begins like a target', 'http://10.0.0.8.test/x', 'http://10.0.0.8.test/x'],
  ]);

  it('an IPv4 address equals its mapped IPv6 form (RFC 4291 §2.5.5.2)', () => {
    const spellings = [
      '10.0.0.7',
      '[::ffff:10.0.0.7]',
      '[::ffff:a00:7]',
      '[::FFFF:0A00:0007]',
      '[0:0:0:0:0:ffff:a00:7]',
    ];
    for (const target of spellings)
      for (const name of spellings) {
        const service = { targets: [`http://${target}:4101`] };
        expect([target, location(service, `http://${name}:4101/bookings/9`)]).toEqual([target, there]);
        expect([target, location(service, `http://${name}:4101:80/bookings/9`)]).toEqual([target, undefined]);
      }
    const other = 'http://[::ffff:a00:8]:4101/bookings/9';
    expect(location({}, other)).toBe(other);
    const mappedForm = { forwardedHost: '[::ffff:10.9.9.9]:8443' };
    expect(location(mappedForm, 'http://10.9.9.9:8443/bookings/9')).toBe(there);
  });

  it('all loopback names are equal', () => {
    const names = [
      '127.0.0.1',
      'localhost',
      '[::1]',
      'localhost.',
      '127.0.0.2',
      '0.0.0.0',
      '[::]',
      '[::ffff:127.0.0.1]',
    ];
    for (const target of names)
      for (const name of names) {
        const service = { targets: [`http://${target}:4101`] };
        expect([target, location(service, `http://${name}:4101/bookings/9`)]).toEqual([target, there]);
        expect([target, location(service, `grpc://${name}:4101/bookings/9`)]).toEqual([target, undefined]);
      }
  });

  it('a malformed address of a host with a final dot is removed too', () => {
    for (const target of ['http://orders.internal:4101', 'http://orders.internal.:4101'])
      for (const host of ['orders.internal', 'orders.internal.'])
        expect(location({ targets: [target] }, `http://${host}:4101:80/bookings/9`)).toBeUndefined();
    const other = 'http://orders.internal.example.com:80:80/x';
    expect(location({ targets: ['http://orders.internal'] }, other)).toBe(other);
  });

  it('RET-3: scheme and port are the configured ones, and the host is that of the request', () => {
    const sent = 'http://hosts.example.com:8443/bookings/9';
    const hosts = { asked: 'hosts.example.com', forwardedHost: 'hosts.example.com:8443' };
    expect(location(hosts, sent)).toBe('https://hosts.example.com/v1/bookings/9');
    expect(location({ ...hosts, public: 'http://localhost:8080' }, sent)).toBe(
      'http://hosts.example.com:8080/v1/bookings/9',
    );
    expect(location({ ...hosts, public: 'http://[::1]:8080', asked: '[::1]' }, sent)).toBe(
      'http://[::1]:8080/v1/bookings/9',
    );
  });
});

it('RET-3: the forwarded host is recognised with any port', () => {
  for (const forwardedHost of ['hosts.example.com:0443', 'hosts.example.com:80', 'hosts.example.com.'])
    expect(location({ forwardedHost }, 'https://hosts.example.com/bookings/9')).toBe(
      'https://api.example.com/v1/bookings/9',
    );
  expect(location({ forwardedHost: '[fd00::1]:8443' }, 'https://[FD00::1]:8443/bookings/9')).toBe(
    'https://api.example.com/v1/bookings/9',
  );
});

describe('other schemes and malformed URLs', () => {
  rows({}, [
    ['another scheme', 'mailto:orders@example.com', 'mailto:orders@example.com'],
    ['a name', 'urn:isbn:9', 'urn:isbn:9'],
    ['another scheme, elsewhere', 'ftp://example.net/x', 'ftp://example.net/x'],
    ['another scheme, at a target', 'grpc://10.0.0.7:4101/x', undefined],
    ['another scheme, at the public host', 'ftp://api.example.com/x', 'ftp://api.example.com/x'],
    ['a port out of range', 'http://example.net:99999/', 'http://example.net:99999/'],
    ['malformed, at a target', 'http://10.0.0.7:4101:80/x', undefined],
    ['malformed, with a blank, at a target', 'http://a b@10.0.0.7:4101 /x', undefined],
    ['a scheme without slashes, at a target', 'http:10.0.0.7:4101/x', undefined],
    ['a scheme with one slash, at a target', 'http:/10.0.0.7:4101/x', undefined],
    ['a scheme without slashes', 'http:bookings/9', 'http:bookings/9'],
  ]);
});

describe('if client and service have the same path', () => {
  const service = { client: '/bookings', search: '?version=1&x=1' };
  rows(service, [
    ['a path, with the version in a header or pin', '/bookings/9', '/bookings/9'],
    ['relative', '9', '9'],
    ['a query alone', '?page=2', '?page=2'],
    ['the authority is mapped', `${TARGET}/bookings/9`, 'https://api.example.com/bookings/9'],
  ]);
  describe('and the query has the version', () => {
    rows({ ...service, query: 'version' }, [
      ['the parameter is added to a path', '/bookings/9', '/bookings/9?version=1'],
      ['the parameter is added after others', '/bookings/9?page=2#x', '/bookings/9?page=2&version=1#x'],
      ['the parameter is not added twice', '/bookings/9?version=v1&page=2', '/bookings/9?page=2&version=1'],
      ['the parameter is added to a query alone', '?page=2', '/bookings/7?page=2&version=1'],
      ['no parameter outside the path of the service', '/login', '/login'],
      ['no parameter for another host', 'https://example.net/bookings/9', 'https://example.net/bookings/9'],
    ]);
    it('no parameter is added if the request named its version in another carrier', () => {
      expect(location({ client: '/bookings', query: 'version' }, '/bookings/9')).toBe('/bookings/9');
    });
  });
});

describe('at the root of a host', () => {
  describe('the service', () => {
    rows({ path: '' }, [
      ['relative to the root', '../../9', '/v1/bookings/9'],
      ['any path', '/9', '/v1/bookings/9'],
      ['the root', '/', '/v1/bookings/'],
      ['the path of the client is unchanged', '/v1/bookings/9', '/v1/bookings/9'],
      ['a sibling', '9', '9'],
    ]);
  });
  describe('the API', () => {
    rows({ client: '' }, [
      ['below', '/bookings/9', '/9'],
      ['the path of the service', '/bookings', '/'],
      ['the path of the service with a query', '/bookings?x', '/?x'],
      ['outside', '/login', '/login'],
      ['relative, outside', '../login', '../login'],
      ['a path like a host', `${TARGET}/bookings//evil.test`, 'https://api.example.com//evil.test'],
      [
        'a path like a host, in an address without an authority',
        '/bookings//evil.test',
        'https://api.example.com//evil.test',
      ],
    ]);
  });
});

describe('if both paths match', () => {
  it('the longer path is used', () => {
    expect(location({ client: '/api', path: '/api/inner' }, '/api/inner/9')).toBe('/api/9');
    expect(location({ client: '/api', path: '/api/inner' }, '/api/9')).toBe('/api/9');
    expect(location({ client: '/inner/v1', path: '/inner' }, '/inner/9')).toBe('/inner/v1/9');
    expect(location({ client: '/inner/v1', path: '/inner' }, '/inner/v1/9')).toBe('/inner/v1/9');
  });
});

describe('the count of addresses outside the path of the service', () => {
  it.each([
    ['/login', 1],
    [`${TARGET}/login`, 1],
    ['../login', 1],
    ['/bookings/9', 0],
    ['/v1/bookings/9', 0],
    ['https://example.net/login', 0],
    ['#x', 0],
  ])('with %s is %i', (sent, outside) => {
    expect(mapped({}, { location: sent }).outside).toBe(outside);
  });

  it("excludes addresses with the client's prefix, which also get the parameter", () => {
    const service = { client: '/api', path: '/api/inner', search: '?version=1', query: 'version' };
    const { headers, outside } = mapped(service, { location: '/api/9' });
    expect([headers.location, outside]).toEqual(['/api/9?version=1', 0]);
  });

  it('includes every address', () => {
    const headers = { location: '/login', link: '</a>; rel="x", </bookings/9>; rel="y", </b>; rel="z"' };
    expect(mapped({}, headers).outside).toBe(3);
  });
});

describe('Link', () => {
  const links = (sent: string | string[]) => mapped({}, { link: sent }).headers.link;

  it.each([
    ['</bookings/9>', '</v1/bookings/9>'],
    [
      '</bookings?page=2>; rel="next", <https://docs.example.com/a,b>; rel=help ,<9>;rel="last"',
      '</v1/bookings?page=2>; rel="next", <https://docs.example.com/a,b>; rel=help ,<9>;rel="last"',
    ],
    ['<#a>; rel=x; anchor="/bookings/9"', '<#a>; rel=x; anchor="/v1/bookings/9"'],
    ['</bookings/1,2>; title="a, </bookings/3>"', '</v1/bookings/1,2>; title="a, </bookings/3>"'],
    ['</bookings/a>; title="a \\", <b>"', '</v1/bookings/a>; title="a \\", <b>"'],
    [`<${TARGET}/bookings/a>b>`, '<https://api.example.com/v1/bookings/a>b>'],
    ['</login>;rel=a,,</bookings>;rel=b', '</login>;rel=a,,</v1/bookings>;rel=b'],
    ['no link at all', 'no link at all'],
  ])('%s becomes %s', (sent, got) => {
    expect(links(sent)).toBe(got);
  });

  it.each([
    [`<grpc://10.0.0.7:4101/a>; rel=a, </bookings/9>; rel=b`, '</v1/bookings/9>; rel=b'],
    [`<grpc://10.0.0.7:4101/a>; rel=a`, undefined],
    [`</bookings/9>; title="see ${TARGET}/a", <https://x.test>`, '<https://x.test>'],
    [`</bookings/9>; title="never closed, <${TARGET}/a>`, undefined],
    [`${TARGET}/a; rel=a`, undefined],
  ])('%s: a link that would show an internal address is removed', (sent, got) => {
    expect(links(sent)).toBe(got);
  });

  it('each line is mapped, and a line without links is removed', () => {
    expect(links(['</bookings/1>', '<grpc://10.0.0.7:4101/a>', '</bookings/2>'])).toEqual([
      '</v1/bookings/1>',
      '</v1/bookings/2>',
    ]);
  });
});

describe('Refresh', () => {
  it.each([
    ['5', '5'],
    ['5; url=/bookings/9', '5; url=/v1/bookings/9'],
    ['5;URL=/bookings/9', '5;URL=/v1/bookings/9'],
    ['0.5 ; url = "/bookings/9"', '0.5 ; url = "/v1/bookings/9"'],
    ["5; url='/bookings/9'", "5; url='/v1/bookings/9'"],
    ["5; url='/bookings/9' and more", "5; url='/v1/bookings/9'"],
    ['5; url="/bookings/9', '5; url="/v1/bookings/9'],
    ['5, /bookings/9', '5, /v1/bookings/9'],
    ['5 /bookings/9', '5 /v1/bookings/9'],
    [`5; url=${TARGET}/bookings/9`, '5; url=https://api.example.com/v1/bookings/9'],
    ['5; urlaub', '5; urlaub'],
    ['5; ../../bookings/9', '5; /v1/bookings/9'],
    ['5; url=https://example.net/', '5; url=https://example.net/'],
    ['soon; url=/bookings/9', 'soon; url=/bookings/9'],
    [`soon; url=${TARGET}/bookings/9`, undefined],
    ['5; url=http:10.0.0.7:4101/x', undefined],
  ])('%s becomes %s', (sent, got) => {
    expect(mapped({}, { refresh: sent }).headers.refresh).toBe(got);
  });
});

describe('Set-Cookie', () => {
  const cookie = (sent: string, service: MappedService = {}) =>
    mapped(service, { 'set-cookie': [sent] }).headers['set-cookie'];

  it.each([
    ['a=1', 'a=1'],
    ['a=1; Path=/bookings', 'a=1; Path=/v1/bookings'],
    ['a=1;path = /bookings/x/ ;Secure', 'a=1; Path=/v1/bookings/x/;Secure'],
    ['a=/bookings; Path=/bookings-old', 'a=/bookings; Path=/bookings-old'],
    ['a=1; Path=/', 'a=1; Path=/'],
    ['a=1; Path=/v1/bookings', 'a=1; Path=/v1/bookings'],
    ['__Host-a=1; Path=/; Secure', '__Host-a=1; Path=/; Secure'],
    ['__host-a=1; Path=/bookings; Secure', '__host-a=1; Path=/bookings; Secure'],
    ['a=1; Domain=10.0.0.7; HttpOnly', 'a=1; HttpOnly'],
    ['a=1; domain=10.0.0.7:4101', 'a=1'],
    ['a=1; Domain="10.0.0.7"', 'a=1'],
    ['a=1; Domain=example.com', 'a=1; Domain=example.com'],
    ['a=1; Domain=example.net', 'a=1; Domain=example.net'],
    ['a=1; Domain=', 'a=1; Domain='],
  ])('%s becomes %s', (sent, got) => {
    expect(cookie(sent)).toEqual([got]);
  });

  it('no path changes if the service is at its root', () => {
    for (const sent of ['a=1; Path=/9', 'a=1; Path=/']) expect(cookie(sent, { path: '' })).toEqual([sent]);
  });

  it('the path becomes / if the API is at the root', () => {
    expect(cookie('a=1; Path=/bookings', { client: '' })).toEqual(['a=1; Path=/']);
  });

  it.each([
    ['.Bookings.internal', true],
    ['internal', true],
    ['10.0.0.7', true],
    ['example.com', false],
    ['api.example.com', false],
    ['kings.internal', false],
  ])('a domain that covers only internal hosts is removed: %s', (domain, isInside) => {
    const service = { host: 'bookings.internal', targets: [TARGET, 'http://inner.example.com'] };
    const sent = `a=1; Domain=${domain}; Secure`;
    expect(cookie(sent, service)).toEqual([isInside ? 'a=1; Secure' : sent]);
  });
});

describe('a response stored for an idempotency key', () => {
  const sent = {
    location: `${TARGET}/bookings/9?x=1`,
    'content-location': '/bookings/9',
    link: '<http://api.example.com/bookings/9>; rel=a, <https://x.test/>; rel=b',
  };
  const first: MappedService = {};

  it('IDM-3: gives each caller addresses for its own URL, even if the service has moved', () => {
    const kept = addressesToKeep(new HeaderLines(sent), orderOf(first), 'api.example.com').record();
    expect(JSON.stringify(kept)).not.toContain('10.0.0.7');
    const later: readonly MappedService[] = [
      first,
      { client: '/bookings', search: '?version=1', query: 'version' },
      { targets: ['http://10.0.0.9:1'], asked: 'v1.example.com', forwardedHost: 'v1.example.com' },
    ];
    for (const service of later) {
      const own = { ...service, targets: [TARGET], forwardedHost: 'api.example.com' };
      expect(mapped(service, kept)).toEqual(mapped(own, sent));
    }
  });

  it('keeps fields without addresses unchanged', () => {
    const plain = new HeaderLines({ 'content-type': 'text/plain' });
    expect(addressesToKeep(plain, orderOf(first), 'api.example.com')).toBe(plain);
  });
});

it('with `locations: keep` addresses are unchanged', () => {
  const { clientPlace: _, ...order } = orderOf({});
  const sent = { location: `${TARGET}/bookings/9`, 'set-cookie': ['a=1; Domain=10.0.0.7'] };
  const headers = new HeaderLines(sent);
  expect(mapAnswer(headers, order, 'api.example.com')).toBe(0);
  expect(headers.record()).toEqual(sent);
  expect(addressesToKeep(headers, order, 'api.example.com')).toBe(headers);
});
