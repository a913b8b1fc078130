// Mutated messages: well formed except for a few changed bytes, in Latin-1, one character per byte.
import fc from 'fast-check';

/** Bytes that are delimiters for some parser, and parts of framing. */
const SHARP: readonly string[] = [
  ...['\r', '\n', '\r\n', '\r\n\r\n', '\0', ' ', '\t', '\v', '\f', '\u007f', '\u0085', '\u00a0', '\u00ff'],
  ...[
    ':',
    ',',
    ';',
    '"',
    '\\',
    '/',
    '//',
    '/../',
    '?',
    '#',
    '@',
    '%',
    '%2e',
    '%2F',
    '%00',
    '%0d%0a',
    '=',
    '*',
  ],
  ...['_', '-', '+', '0', '1', 'a', 'Z', '{', '(', '[::1]'],
];

const LINES: readonly string[] = [
  ...['Content-Length: 5', 'Content-Length: 0', 'Transfer-Encoding: chunked', 'Transfer-Encoding: identity'],
  ...['Host: api.example.com', 'Host: other.example.com', 'Connection: close', 'Connection: keep-alive'],
  ...['Connection: X-Forwarded-For, Host, Via, API-Version', 'Upgrade: h2c', 'Expect: 100-continue'],
];

interface Change {
  readonly what: 'insert' | 'replace' | 'remove' | 'repeat' | 'swap case' | 'line';
  readonly at: number;
  readonly length: number;
  readonly piece: string;
  readonly line: string;
}

const change: fc.Arbitrary<Change> = fc.record({
  what: fc.constantFrom('insert', 'replace', 'remove', 'repeat', 'swap case', 'line'),
  at: fc.nat(),
  length: fc.integer({ min: 1, max: 6 }),
  piece: fc.oneof(
    { weight: 5, arbitrary: fc.constantFrom(...SHARP) },
    { weight: 1, arbitrary: fc.nat(255).map((byte) => String.fromCharCode(byte)) },
  ),
  line: fc.constantFrom(...LINES),
});

function changed(text: string, { what, at, length, piece, line }: Change): string {
  const place = at % (text.length + 1);
  const before = text.slice(0, place);
  const taken = text.slice(place, place + length);
  const rest = text.slice(place + length);
  switch (what) {
    case 'insert':
      return before + piece + taken + rest;
    case 'replace':
      return before + piece + rest;
    case 'remove':
      return before + rest;
    case 'repeat':
      return before + taken + taken + rest;
    case 'swap case':
      return before + (taken === taken.toUpperCase() ? taken.toLowerCase() : taken.toUpperCase()) + rest;
    case 'line': {
      const end = text.indexOf('\r\n', place) + 2;
      return end < 2 ? text : `${text.slice(0, end)}${line}\r\n${text.slice(end)}`;
    }
    default:
      return what satisfies never;
  }
}

/** `whole` with up to `most` changes, sometimes none. */
export function mutated(whole: fc.Arbitrary<string>, most = 3): fc.Arbitrary<string> {
  return fc
    .tuple(whole, fc.array(change, { maxLength: most }))
    .map(([text, changes]) => changes.reduce(changed, text));
}

/** Header names with a meaning for the gateway, its framework or JavaScript. */
const NAMES: readonly string[] = [
  ...[
    'Accept',
    'Authorization',
    'Cookie',
    'Content-Type',
    'Date',
    'ETag',
    'If-None-Match',
    'Range',
    'User-Agent',
  ],
  ...['Connection', 'Keep-Alive', 'Proxy-Connection', 'TE', 'Trailer', 'Upgrade', 'HTTP2-Settings', 'Via'],
  ...['Forwarded', 'X-Forwarded-For', 'X-Forwarded-Proto', 'X-Forwarded-Host', 'X-Real-IP', 'X-Request-Id'],
  ...[
    'API-Version',
    'X_API_Version',
    'X-User-Id',
    'X-Tenant',
    'X-Debug',
    'Max-Forwards',
    'Expect',
    'Set-Cookie',
  ],
  ...['Location', 'Link', 'Warning', 'Vary', 'Cache-Control', 'Sunset', 'Deprecation', 'Retry-After', 'Age'],
  ...['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'X-A', "!#$%&'*+.^`|~"],
];

const VALUES: readonly string[] = [
  ...[
    '',
    '1',
    'v1',
    'v2',
    'v7',
    'close',
    'keep-alive',
    'Upgrade',
    'trailers',
    'chunked',
    '100-continue',
    '*',
  ],
  ...[
    'X-Tenant, X-User-Id',
    'API-Version, Host, Content-Length',
    '__proto__, constructor',
    'Set-Cookie, Link',
  ],
  ...[
    '1.1 sundial',
    '1.0 fred, 1.1 p (a, b)',
    '6.6.6.6, 192.0.2.9',
    'for="[::1]";host="a\\"b"',
    'https',
    'evil/x',
  ],
  ...[
    'application/vnd.acme.v1+json',
    'application/vnd.acme.v2+json;q=0.5, */*',
    'application/json; charset="x',
  ],
  ...[
    'W/"a", "b~d01234567"',
    'bytes=0-1',
    'max-age=60, no-transform',
    'a; b="c\u00ff\\"',
    '0123456789abcdef',
  ],
  ...['<https://a.example/>; rel="x", <', '@1, @2', 'Mon, 01 Jun 2026 00:00:00 GMT', '\u0080\u00fe\t\u00ff'],
];

/** Lines with a combined meaning: a field and a Connection that removes it, or two contradictory fields. */
const PAIRS: readonly (readonly string[])[] = [
  ['Connection: X-A, cookie', 'X-A: 1', 'Cookie: a=b'],
  ['Connection: close', 'Connection: X-Tenant, Authorization', 'Authorization: Bearer a.b.c'],
  ['Connection: Via, X-Forwarded-For, X-Request-Id', 'Via: 1.0 fred'],
  ['Content-Length: 5', 'Content-Length: 6'],
  ['Content-Length: 3', 'Transfer-Encoding: chunked'],
  ['Transfer-Encoding: chunked', 'Transfer-Encoding: identity'],
  ['Host: other.example.com', 'Host: api.example.com'],
  ['API-Version: v1', 'API_Version: v2', 'Accept: application/vnd.acme.v2+json'],
  ['Expect: 100-continue', 'Connection: Expect'],
];

const oneLine = fc
  .tuple(fc.constantFrom(...NAMES), fc.constantFrom(...VALUES))
  .map(([name, value]) => `${name}: ${value}`);

export const fieldLines: fc.Arbitrary<readonly string[]> = fc
  .tuple(
    fc.array(oneLine, { maxLength: 4 }),
    fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, fc.constantFrom(...PAIRS)),
  )
  .map(([lines, pair]) => [...lines, ...pair]);

/** A lower-case name and a value as a parser returns them, without line ends. */
export const parsedField: fc.Arbitrary<readonly [name: string, value: string]> = fc.tuple(
  fc.constantFrom(...NAMES).map((name) => name.toLowerCase()),
  fc.oneof(
    fc.constantFrom(...VALUES),
    mutated(fc.constantFrom(...VALUES)).map((text) => text.replace(/[^\t\x20-\x7e\x80-\xff]/g, '')),
  ),
);
