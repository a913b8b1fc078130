// A table of raw requests: status, end of the connection, and the number of requests at the upstream.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type GatewayUnderTest, PLANE, startGateway } from './gateway-under-test.ts';
import { get, type RawUpstream, sendRaw, startUpstream } from './raw-sockets.ts';

const CANARY = get('/echo/canary');
const chunked = (coding: string): string =>
  get('/echo', [`Transfer-Encoding: ${coding}`], 'POST', '5\r\nhello\r\n0\r\n\r\n');

interface Row {
  readonly name: string;
  readonly send: string;
  readonly status: number;
  readonly close: boolean;
  readonly upstream: number;
}

const refused = (name: string, send: string, status = 400): Row => ({
  name,
  // After a refusal, a valid request on the same connection must not be served.
  send: send + CANARY,
  status,
  close: true,
  upstream: 0,
});
const passed = (name: string, send: string): Row => ({ name, send, status: 200, close: false, upstream: 1 });

const ROWS: readonly Row[] = [
  refused(
    'SMG-1: Content-Length with Transfer-Encoding',
    get('/echo', ['Content-Length: 4', 'Transfer-Encoding: chunked'], 'POST', '0\r\n\r\n'),
  ),
  refused('SMG-2: chunked that is not last', chunked('chunked, gzip')),
  refused('SMG-3: a coding before chunked is unknown', chunked('gzip, chunked'), 501),
  refused('SMG-4: a coding that only contains chunked', chunked('xchunked'), 501),
  refused('SMG-4: two Transfer-Encoding lines', chunked('chunked\r\nTransfer-Encoding: chunked')),
  refused('SMG-5: Content-Length with a sign', get('/echo', ['Content-Length: +5'], 'POST', 'hello')),
  refused(
    'SMG-5: two different Content-Length lines',
    get('/echo', ['Content-Length: 5', 'Content-Length: 6'], 'POST', 'hello!'),
  ),
  refused('SMG-6: two Host lines, even equal ones', get('/echo', ['Host: api.example.com'])),
  // Node's parser accepts them, as RFC 9112 §3 permits.
  ...(PLANE === 'general'
    ? []
    : [
        refused(
          'SMG-11: two spaces before the target',
          'GET  /echo HTTP/1.1\r\nHost: api.example.com\r\n\r\n',
        ),
        refused(
          'SMG-11: two spaces after the target',
          'GET /echo  HTTP/1.1\r\nHost: api.example.com\r\n\r\n',
        ),
      ]),
  refused('SMG-6: no Host', 'GET /echo HTTP/1.1\r\n\r\n'),
  refused('SMG-6: Host with user information', 'GET /echo HTTP/1.1\r\nHost: a@api.example.com\r\n\r\n'),
  refused('SMG-6: Host with a space', 'GET /echo HTTP/1.1\r\nHost: a b\r\n\r\n'),
  passed(
    'SMG-7: an absolute-form target replaces Host',
    'GET http://api.example.com/echo HTTP/1.1\r\nHost: other.example\r\n\r\n',
  ),
  refused(
    'SMG-7: an https URL over plain HTTP',
    'GET https://api.example.com/echo HTTP/1.1\r\nHost: api.example.com\r\n\r\n',
  ),
  {
    name: 'SMG-7: an absolute-form target for an unknown authority is misdirected',
    send: 'GET http://evil.example/echo HTTP/1.1\r\nHost: api.example.com\r\n\r\n',
    status: 421,
    close: false,
    upstream: 0,
  },
  {
    name: 'SMG-8: the gateway answers OPTIONS *',
    send: get('*', [], 'OPTIONS'),
    status: 204,
    close: false,
    upstream: 0,
  },
  refused('SMG-8: GET *', get('*')),
  refused('SMG-9: a space before the colon', get('/echo', ['X-A : 1'])),
  refused('SMG-10: a folded line', get('/echo', ['X-A: 1', ' 2'])),
  refused('SMG-11: NUL in a value', get('/echo', ['X-A: a\0b'])),
  refused('SMG-11: a bare CR in a value', get('/echo', ['X-A: a\rb'])),
  refused(
    'SMG-12: chunk extensions beyond the cap',
    get('/echo', ['Transfer-Encoding: chunked'], 'POST', `5;${'x'.repeat(40_000)}\r\nhello\r\n0\r\n\r\n`),
    413,
  ),
  refused(
    'SMG-13: a chunk size that is not hex',
    get('/echo', ['Transfer-Encoding: chunked'], 'POST', 'zz\r\n'),
  ),
  refused(
    'SMG-14: Transfer-Encoding in HTTP/1.0',
    'POST /echo HTTP/1.0\r\nHost: api.example.com\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  ),
  refused('SMG-15: an unknown HTTP version', 'GET /echo HTTP/3.0\r\nHost: api.example.com\r\n\r\n', 505),
  refused('SMG-16: HTTP/2.0 in a request line', 'GET /echo HTTP/2.0\r\nHost: api.example.com\r\n\r\n', 505),
  refused(
    'SMG-17: two Authorization lines',
    get('/echo', ['Authorization: Bearer a', 'Authorization: Bearer b']),
  ),
  refused('SMG-17: two Content-Type lines', get('/echo', ['Content-Type: a/b', 'Content-Type: c/d'])),
  refused(
    'SMG-17: two If-Modified-Since lines',
    get('/echo', ['If-Modified-Since: a', 'If-Modified-Since: b']),
  ),
  passed(
    'SMG-17: If-None-Match is a list and may be repeated',
    get('/echo', ['If-None-Match: "a"', 'If-None-Match: "b"']),
  ),
  passed(
    'SMG-17: version fields may be repeated, and resolution compares them',
    get('/echo', ['API-Version: 1', 'API-Version: 2']),
  ),
  passed('SMG-18: a GET with a body', get('/echo', ['Content-Length: 5'], 'GET', 'hello')),
  refused('SMG-19: a fragment in the target', get('/echo#x')),
  refused('SMG-19: a backslash in the path', get('/echo\\x')),
  refused('SMG-20: an octet above 127 in the target', get('/echo/\xe9')),
  refused('SMG-24: a header section above 16 KiB', get('/echo', [`X-A: ${'a'.repeat(20_000)}`]), 431),
  refused('SMG-24: a target above its limit', get(`/echo/${'a'.repeat(9_000)}`), 414),
  passed('SMG-24: a target of 8000 octets', get(`/echo/${'a'.repeat(7_990)}`)),
  refused('SMG-24: more fields than the cap', get('/echo', Array<string>(300).fill('A: 1')), 431),
  refused('FWD-15: an unknown method', get('/echo', [], 'BREW'), 501),
  refused('FWD-15: TRACE', get('/echo', [], 'TRACE'), 501),
  refused('FWD-11: an expectation other than 100-continue', get('/echo', ['Expect: a miracle']), 417),
  passed(
    'FWD-11: an expectation from HTTP/1.0 is ignored',
    `GET /echo HTTP/1.0\r\nHost: api.example.com\r\nConnection: keep-alive\r\nExpect: x\r\n\r\n`,
  ),
  {
    name: 'FWD-8: the gateway answers OPTIONS with Max-Forwards: 0',
    send: get('/echo', ['Max-Forwards: 0'], 'OPTIONS'),
    status: 204,
    close: false,
    upstream: 0,
  },
  refused('VER-7: dot segments', get('/echo/../x')),
  refused('VER-7: encoded dot segments', get('/echo/%2e%2E/x')),
  refused('VER-7: dot segments encoded twice', get('/echo/%252e%252e%252fx')),
  refused('VER-7: dot segments after an encoded slash', get('/echo/a%2f..')),
  refused('VER-7: dot segments before a semicolon', get('/echo/..;a=b/x')),
  refused('VER-7: %00', get('/echo/%00')),
  refused('VER-7: %5C', get('/echo/a%5cb')),
  refused('VER-7: a broken triplet', get('/echo/%zz')),
  refused('VER-7: // at the start', get('//echo/x')),
  refused('VER-7: a target without a slash', get('echo')),
];

const TITLED = ROWS.map((row) => [`${row.name}: ${row.status}`, row] as const);

describe('strict checks of a raw request', () => {
  let upstream: RawUpstream;
  let gateway: GatewayUnderTest;
  beforeAll(async () => {
    upstream = await startUpstream();
    gateway = await startGateway({ upstream: upstream.origin });
  });
  afterAll(async () => {
    await gateway.stop();
    await upstream.stop();
  });

  it.each(TITLED)('%s', async (_title, { send, status, close, upstream: count }) => {
    const before = upstream.requests.length;
    const observed = gateway.outcomes.length;
    const answer = await sendRaw(gateway.port, send);
    expect(answer.statuses).toEqual([status]);
    expect(answer.closed).toBe(close);
    expect(upstream.requests.length - before).toBe(count);
    expect(gateway.outcomes.slice(observed).map((outcome) => outcome.status)).toEqual([status]);
  });

  it('VER-7: the upstream gets the path that was checked', async () => {
    await sendRaw(gateway.port, get('/echo/%7e%c3%a9%2fx/.well-known/a.b?q=%7e&q=[]'));
    expect(upstream.requests.at(-1)?.head).toMatch(
      /^GET \/echo\/~%C3%A9%2Fx\/\.well-known\/a\.b\?q=%7e&q=\[\] HTTP\/1\.1\r\n/,
    );
    expect(gateway.views.at(-1)?.path).toBe('/echo/~%C3%A9%2Fx/.well-known/a.b');
  });

  it('SMG-25: field names with an underscore reach neither the exchange nor the upstream', async () => {
    await sendRaw(gateway.port, get('/echo', ['X_Forwarded_For: 6.6.6.6', 'X-Ok: 1']));
    expect(gateway.views.at(-1)?.headers.get('x_forwarded_for')).toBeUndefined();
    expect(upstream.requests.at(-1)?.head).toContain('x-ok: 1');
    expect(upstream.requests.at(-1)?.head).not.toContain('x_forwarded_for');
  });

  it('a valid request gets its response although an invalid one follows it', async () => {
    const answer = await sendRaw(gateway.port, `${get('/echo/first')}BROKEN\r\n\r\n`);
    expect(answer.statuses).toEqual([200]);
    expect(answer.closed).toBe(true);
  });

  it.each([
    ['abcdef-1', true],
    ['A'.repeat(64), true],
    ['abcdef1', false],
    ['A'.repeat(65), false],
    ['no good here', false],
    ['abcdef_123', false],
    ['abcdef.123', false],
    ['abcdefg\xe9', false],
  ])('ERR-7: a well-formed X-Request-Id is kept, any other replaced: %s', async (id, isKept) => {
    await sendRaw(gateway.port, get('/echo', [`X-Request-Id: ${id}`]));
    const used = gateway.views.at(-1)?.requestId;
    if (isKept) expect(used).toBe(id);
    else expect(used).toMatch(/^[0-9a-f]{8}-[0-9a-f-]{27}$/);
  });

  it('the recorded path of an invalid target has no query and no password', async () => {
    const bytes = 'GET http://u:canary@api.example.com/echo?canary HTTP/1.1\r\nHost: a b\r\n\r\n';
    await sendRaw(gateway.port, bytes);
    await expect.poll(() => gateway.outcomes.at(-1)?.path).toBe('http://api.example.com/echo');
  });
});
