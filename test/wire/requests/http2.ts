// HTTP/2 requests with another meaning in HTTP/1.1 (RFC 9113 §8; H2-1 to H2-4, H2-7). A reset is a refusal.
import { type Fields, pseudo, request } from '../http2-frames.ts';
import type { Spot } from '../spot.ts';
import type { RequestCase } from '../wire-case.ts';

const common = { http2: true, staysOpen: true } as const;

/** The fields of a valid request, then others. */
const malformed = (
  id: string,
  title: string,
  more: (w: Spot) => Fields,
  data?: (w: Spot) => string,
): RequestCase => ({
  ...common,
  id,
  rules: ['H2-3'],
  title,
  send: (w) => request([...pseudo(w, data === undefined ? 'GET' : 'POST'), ...more(w)], data?.(w)),
  pass: ['refused', 'closed'],
  withheld: [['x-injected'], ['transfer-encoding', /x/]],
});

/**
 * An invalid field. RFC 9113 §8.2.1 calls the message malformed. nghttp2 drops the field without an event, so
 * the client gets no error (node-server.ts). The field does not reach the upstream.
 */
const leftOut = (
  id: string,
  title: string,
  more: (w: Spot) => Fields,
  data?: (w: Spot) => string,
): RequestCase => ({
  ...malformed(id, title, more, data),
  pass: ['refused', 'closed', 'forwarded'],
  withheld: [['x-injected'], ['x-a'], ['x'], ['authorization'], ['transfer-encoding', /^(?!chunked$)/]],
});

/** Replaces one pseudo-header field. Undefined removes it. */
const pseudoed = (
  id: string,
  title: string,
  name: string,
  value: (w: Spot) => string | undefined,
): RequestCase => ({
  ...malformed(id, title, () => []),
  send: (w) =>
    request(
      pseudo(w).flatMap((field) => {
        const changed = field[0] === name ? value(w) : field[1];
        return changed === undefined ? [] : [[field[0], changed] as const];
      }),
    ),
});

const served = (
  id: string,
  rule: string,
  title: string,
  more: (w: Spot) => Fields,
  tests: Partial<RequestCase> = {},
): RequestCase => ({
  ...malformed(id, title, more),
  rules: [rule],
  pass: ['forwarded'],
  lax: ['refused', 'closed'],
  ...tests,
});

const posted = (id: string, rule: string, title: string, fields: Fields, body: string): RequestCase => ({
  ...served(id, rule, title, () => []),
  send: (w) => request([...pseudo(w, 'POST'), ...fields], body),
  methods: ['POST'],
  body,
});

export const http2: readonly RequestCase[] = [
  served('h2-get', 'H2-2', 'a GET', () => []),
  posted('h2-post', 'SMG-21', 'a POST without a length', [], 'hello'),
  posted('h2-post-length', 'SMG-21', 'a POST with a length', [['content-length', '5']], 'hello'),
  posted('h2-post-empty', 'SMG-21', 'a POST with an empty body', [], ''),
  served(
    'h2-cookies',
    'H2-4',
    'cookies are joined',
    () => [
      ['cookie', 'a=1'],
      ['cookie', 'b=2'],
    ],
    {
      kept: [['cookie', /^a=1; b=2$/]],
    },
  ),
  served('h2-trailers', 'H2-3', 'te: trailers', () => [['te', 'trailers']]),
  served(
    'h2-underscore',
    'SMG-25',
    'a name with an underscore is not forwarded',
    () => [['x_forwarded_for', '6.6.6.6']],
    {
      withheld: [['x_forwarded_for']],
      pass: ['forwarded', 'refused', 'closed'],
    },
  ),
  served('h2-forged', 'XFF-1', 'a forged address is not forwarded', () => [['x-forwarded-for', '6.6.6.6']], {
    withheld: [['x-forwarded-for', /^6\.6\.6\.6$/]],
  }),
  served('h2-host-equal', 'H2-1', 'Host that is the authority', (w) => [['host', w.host]]),
  malformed('h2-host-other', 'Host that is not the authority', () => [['host', 'evil.example']]),
  malformed(
    'h2-length-zero',
    'a length of zero and a body that is a request',
    () => [['content-length', '0']],
    (w) => w.canary,
  ),
  malformed(
    'h2-length-short',
    'a length that is too short',
    () => [['content-length', '3']],
    (w) => `abc${w.canary}`,
  ),
  malformed(
    'h2-length-long',
    'a length that is too long',
    () => [['content-length', '50']],
    () => 'hello',
  ),
  malformed(
    'h2-length-two',
    'two lengths',
    () => [
      ['content-length', '5'],
      ['content-length', '6'],
    ],
    () => 'hello',
  ),
  malformed(
    'h2-length-plus',
    'a length with a plus sign',
    () => [['content-length', '+5']],
    () => 'hello',
  ),
  malformed(
    'h2-coding',
    'Transfer-Encoding',
    () => [['transfer-encoding', 'chunked']],
    (w) => `0\r\n\r\n${w.canary}`,
  ),
  leftOut(
    'h2-coding-hidden',
    'a coding after a line end',
    () => [['x-a', 'b\r\ntransfer-encoding: chunked']],
    (w) => `0\r\n\r\n${w.canary}`,
  ),
  malformed('h2-connection', 'Connection', () => [['connection', 'close']]),
  malformed('h2-keep-alive', 'Keep-Alive', () => [['keep-alive', 'timeout=5']]),
  malformed('h2-proxy-connection', 'Proxy-Connection', () => [['proxy-connection', 'close']]),
  malformed('h2-upgrade', 'Upgrade', () => [['upgrade', 'websocket']]),
  malformed('h2-te', 'te that is not trailers', () => [['te', 'gzip']]),
  malformed('h2-name-upper', 'capitals in a name', () => [['X-A', '1']]),
  leftOut('h2-name-space', 'a space in a name', () => [['x a', '1']]),
  leftOut('h2-name-colon', 'a colon in a name', () => [['x-a: 1', '1']]),
  leftOut('h2-name-crlf', 'a line end in a name', () => [['x-a: 1\r\nx-injected', '1']]),
  leftOut('h2-name-empty', 'an empty name', () => [['', '1']]),
  leftOut('h2-name-nul', 'NUL in a name', () => [['x\0a', '1']]),
  leftOut('h2-value-crlf', 'a line end in a value', () => [['x-a', '1\r\nx-injected: 1']]),
  leftOut('h2-value-lf', 'LF in a value', () => [['x-a', '1\nx-injected: 1']]),
  leftOut('h2-value-cr', 'CR in a value', () => [['x-a', '1\rx-injected: 1']]),
  leftOut('h2-value-nul', 'NUL in a value', () => [['x-a', '1\0']]),
  leftOut('h2-value-request', 'a request in a value', (w) => [['x-a', `1\r\n\r\n${w.canary}`]]),
  leftOut('h2-authorization-nul', 'NUL in the credentials', () => [['authorization', 'Bearer a\0']]),
  leftOut('h2-host-crlf', 'a line end in Host', () => [['host', 'evil.example\r\nx-injected: 1']]),
  malformed(
    'h2-length-nul',
    'NUL in a length',
    () => [['content-length', '5\0']],
    () => 'hello',
  ),
  malformed(
    'h2-length-lf',
    'LF after a length',
    () => [['content-length', '5\n']],
    (w) => `hello${w.canary}`,
  ),
  malformed('h2-coding-nul', 'NUL in Transfer-Encoding', () => [['transfer-encoding', 'chunked\0']]),
  malformed('h2-connection-nul', 'NUL in Connection', () => [['connection', '\0']]),
  malformed('h2-te-nul', 'NUL in te', () => [['te', 'trailers\0']]),
  malformed('h2-pseudo-unknown', 'an unknown pseudo-header field', () => [[':evil', '1']]),
  malformed('h2-pseudo-twice', 'the path twice', (w) => [[':path', w.path]]),
  malformed('h2-authority-twice', 'the authority twice', () => [[':authority', 'evil.example']]),
  malformed('h2-status', ':status in a request', () => [[':status', '200']]),
  {
    ...malformed('h2-pseudo-late', 'a pseudo-header field after others', () => []),
    send: (w) => request([...pseudo(w).slice(0, 3), ['x-a', '1'], [':path', w.path]]),
  },
  pseudoed('h2-path-nul', 'NUL in the path', ':path', (w) => `${w.path}\0`),
  pseudoed('h2-authority-nul', 'NUL in the authority', ':authority', (w) => `${w.host}\0`),
  pseudoed('h2-path-none', 'no path', ':path', () => undefined),
  pseudoed('h2-method-none', 'no method', ':method', () => undefined),
  pseudoed('h2-scheme-none', 'no scheme', ':scheme', () => undefined),
  pseudoed('h2-path-empty', 'an empty path', ':path', () => ''),
  pseudoed('h2-path-space', 'a space in the path', ':path', (w) => `${w.path} HTTP/1.1`),
  pseudoed(
    'h2-path-crlf',
    'a line end in the path',
    ':path',
    (w) => `${w.path} HTTP/1.1\r\nX-Injected: 1\r\nX: `,
  ),
  pseudoed(
    'h2-path-request',
    'a request in the path',
    ':path',
    (w) => `${w.path} HTTP/1.1\r\nHost: a\r\n\r\n${w.canary}`,
  ),
  pseudoed('h2-path-bare', 'a path without a slash', ':path', (w) => w.path.slice(1)),
  pseudoed('h2-path-fragment', 'a fragment', ':path', (w) => `${w.path}#x`),
  pseudoed(
    'h2-path-absolute',
    'an absolute path with another host',
    ':path',
    (w) => `http://evil.example${w.path}`,
  ),
  pseudoed('h2-path-latin', 'a byte above 127 in the path', ':path', (w) => `${w.path}/\xe9`),
  pseudoed('h2-path-dots', 'dot segments in the path', ':path', (w) => `${w.path}/%2e%2e/x`),
  pseudoed(
    'h2-method-space',
    'a space in the method',
    ':method',
    (w) => `GET ${w.path} HTTP/1.1\r\nX-Injected: 1\r\nX: `,
  ),
  pseudoed('h2-method-lower', 'a method in small letters', ':method', () => 'get'),
  pseudoed('h2-method-connect', 'CONNECT with a path', ':method', () => 'CONNECT'),
  pseudoed(
    'h2-authority-crlf',
    'a line end in the authority',
    ':authority',
    (w) => `${w.host}\r\nX-Injected: 1`,
  ),
  pseudoed('h2-authority-path', 'a path in the authority', ':authority', (w) => `${w.host}/evil`),
  pseudoed('h2-authority-user', 'a user in the authority', ':authority', (w) => `evil@${w.host}`),
  pseudoed('h2-authority-other', 'another authority', ':authority', () => 'evil.example'),
  pseudoed('h2-scheme-crlf', 'a line end in the scheme', ':scheme', () => 'https\r\nX-Injected: 1'),
  pseudoed('h2-scheme-path', 'a URL for a scheme', ':scheme', () => 'http://evil.example/?'),
];
