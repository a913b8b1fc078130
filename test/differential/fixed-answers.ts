// Named responses of an upstream, usual, unusual and hostile, for splits at every octet.
import type { Named } from './fixed-requests.ts';

const answer = (start: string, lines: readonly string[] = [], body = ''): string =>
  [`HTTP/1.1 ${start}`, ...lines, '', body].join('\r\n');
const ok = (lines: readonly string[], body = ''): string => answer('200 OK', lines, body);
const chunked = (body: string): string => ok(['Transfer-Encoding: chunked'], body);
const TWO = 'Content-Length: 2';
const EARLY = 'HTTP/1.1 103 Early\r\nLink: </a>\r\n\r\n';

export const FIXED_ANSWERS: readonly Named[] = [
  ['200', ok([TWO], 'ok')],
  ['of length 0', ok(['Content-Length: 0'])],
  ['in chunks', chunked('5\r\nhello\r\n3\r\nyou\r\n0\r\n\r\n')],
  ['chunk extensions and trailers', chunked('2;a="b"\r\nok\r\n0\r\nX-T: 1\r\n\r\n')],
  ['until the connection closes', ok([], 'hello')],
  ['close', ok(['Connection: close', TWO], 'ok')],
  ['204', answer('204 No Content')],
  ['204 with a length', answer('204 No Content', [TWO])],
  ['304', answer('304 Not Modified', ['ETag: "a"', TWO])],
  ['205', answer('205 Reset Content', [TWO], 'ok')],
  ['404', answer('404 Nope', [TWO], 'ok')],
  ['500 in chunks', answer('500 Oops', ['Transfer-Encoding: chunked'], '1\r\na\r\n0\r\n\r\n')],
  ['503 with Retry-After', answer('503 Busy', ['Retry-After: 5', 'Content-Length: 0'])],
  ['no reason', answer('200 ', [TWO], 'ok')],
  ['no space after the status', answer('200', [TWO], 'ok')],
  ['HTTP/1.0', 'HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok'],
  ['HTTP/1.0 until the connection closes', 'HTTP/1.0 200 OK\r\n\r\nok'],
  ['100 before it', `HTTP/1.1 100 Continue\r\n\r\n${ok([TWO], 'ok')}`],
  ['103 before it', EARLY + ok([TWO], 'ok')],
  ['103 twice before it', EARLY + EARLY + ok([TWO], 'ok')],
  ['repeated fields', ok(['Set-Cookie: a=b', 'Set-Cookie: c=d', 'X-A: 1', 'x-a: 2', TWO], 'ok')],
  ['hop-by-hop fields', ok(['Connection: X-A', 'X-A: 1', 'Keep-Alive: timeout=5', TWO], 'ok')],
  ['fields of the gateway', ok(['Via: 1.0 fred', 'X-Request-Id: a', 'Deprecation: @1', TWO], 'ok')],
  ['spaces around a value', ok(['X-A: \t1\t ', TWO], 'ok')],
  ['an empty value', ok(['X-A:', TWO], 'ok')],
  ['singletons twice', ok(['Location: /a', 'Location: /b', TWO], 'ok')],
  ['SMG-22: two lengths', ok([TWO, 'Content-Length: 3'], 'ok!')],
  ['SMG-22: a length and chunks', ok([TWO, 'Transfer-Encoding: chunked'], '0\r\n\r\n')],
  ['SMG-22: another coding', ok(['Transfer-Encoding: gzip'], 'xx')],
  ['SMG-22: a signed length', ok(['Content-Length: +2'], 'ok')],
  ['SMG-10: a folded line', ok(['X-A: 1', ' 2', TWO], 'ok')],
  ['no colon', ok(['X-A', TWO], 'ok')],
  ['SMG-9: a space before the colon', ok(['X-A : 1', TWO], 'ok')],
  ['SMG-11: NUL in a value', ok(['X-A: \0', TWO], 'ok')],
  ['SMG-13: an invalid chunk size', chunked('zz\r\nok\r\n0\r\n\r\n')],
  ['SMG-13: a chunk longer than its size', chunked('1\r\nok\r\n0\r\n\r\n')],
  ['cut within its length', ok(['Content-Length: 5'], 'hel')],
  ['cut within a chunk', chunked('5\r\nhel')],
  ['cut before the last chunk', chunked('5\r\nhello\r\n')],
  ['SMG-23: octets after it', `${ok([TWO], 'ok')}stolen`],
  ['SMG-23: a response after it', ok([TWO], 'ok') + ok(['Content-Length: 6'], 'stolen')],
  ['SMG-23: octets after the last chunk', `${chunked('0\r\n\r\n')}stolen`],
  ['SMG-23: octets after 204', `${answer('204 No Content')}stolen`],
  ['103 without a final response', EARLY],
  ['a status above 599', answer('777 Lucky', [TWO], 'ok')],
  ['a status of two digits', answer('20 OK', [TWO], 'ok')],
  ['another version', 'HTTP/1.2 200 OK\r\nContent-Length: 2\r\n\r\nok'],
  ['no response', ''],
  ['another protocol', 'SSH-2.0-OpenSSH_9.9\r\n\r\n'],
];
