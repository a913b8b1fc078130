// Invalid, hostile and too large response heads: no value may become a line (SMG-10, SMG-11, SMG-22, FWD-18).
import { byteByByte, type ResponseCase, says } from '../wire-case.ts';
import { cleaned, faulty, head, relayed } from './rows.ts';

const field = (id: string, title: string, line: string, more?: Partial<ResponseCase>): ResponseCase =>
  faulty(id, 'SMG-10 SMG-11', title, `${head('200 OK', line, 'Content-Length: 5')}hello`, {
    withheld: [['x-injected'], ['set-cookie', /evil/]],
    ...more,
  });

const line = (id: string, title: string, statusLine: string): ResponseCase =>
  faulty(id, 'FWD-18', title, `${statusLine}\r\nX-Upstream: suite\r\nContent-Length: 5\r\n\r\nhello`);

/** A reason phrase has no meaning, so it may be dropped. */
const EITHER: Partial<ResponseCase> = {
  pass: ['unavailable', 'forwarded'],
  status: [200, 502],
  withheld: [['x-injected']],
};

const numbered = (count: number, length = 1): string[] =>
  Array.from({ length: count }, (_, at) => `X-${at}: ${'a'.repeat(length)}`);

export const heads: readonly ResponseCase[] = [
  field('r-nul', 'NUL in a value', 'X-A: a\0b'),
  field('r-cr', 'a bare CR in a value', 'X-A: a\rX-Injected: 1'),
  field('r-cr-set-cookie', 'a cookie after a bare CR', 'X-A: a\rSet-Cookie: evil=1'),
  field('r-lf-cr', 'LF CR in a value', 'X-A: a\n\rX-Injected: 1'),
  field('r-control', 'a control character in a value', 'X-A: a\x07b'),
  field('r-del', 'DEL in a value', 'X-A: a\x7fb'),
  field('r-nul-name', 'NUL in a name', 'X-\0A: 1'),
  field('r-name-space', 'a space in a name', 'X A: 1'),
  field('r-name-latin', 'a byte above 127 in a name', 'X-\xe4: 1'),
  field('r-space-colon', 'a space before the colon', 'X-A : 1'),
  field('r-no-name', 'no name', ': 1'),
  field('r-no-colon', 'no colon', 'nonsense'),
  cleaned(
    'r-folded',
    'SMG-10',
    'a folded line',
    `${head('200 OK', 'X-A: 1', ' 2', 'Content-Length: 5')}hello`,
    { body: 'hello' },
  ),
  cleaned(
    'r-folded-cookie',
    'SMG-10',
    'a cookie in a folded line',
    `${head('200 OK', 'X-A: 1', ' Set-Cookie: evil=1', 'Content-Length: 5')}hello`,
    {
      withheld: [['set-cookie']],
    },
  ),
  cleaned(
    'r-lf',
    'SMG-11',
    'bare LFs for line ends',
    `${head('200 OK', 'Content-Length: 5').replaceAll('\r\n', '\n')}hello`,
    { body: 'hello' },
  ),
  line('r-line-garbage', 'SSH', 'SSH-2.0-OpenSSH_9.9'),
  line('r-line-version', 'HTTP/3.0', 'HTTP/3.0 200 OK'),
  line('r-line-lower', 'http/1.1', 'http/1.1 200 OK'),
  line('r-line-two-digits', 'a status of two digits', 'HTTP/1.1 20 OK'),
  line('r-line-four-digits', 'a status of four digits', 'HTTP/1.1 2000 OK'),
  line('r-line-word', 'a status that is a word', 'HTTP/1.1 OK'),
  line('r-line-minus', 'a status below zero', 'HTTP/1.1 -200 OK'),
  line('r-line-zero', 'status 000', 'HTTP/1.1 000 None'),
  line('r-line-099', 'status 099', 'HTTP/1.1 099 None'),
  { ...line('r-line-nul', 'NUL in the reason, which is not passed on', 'HTTP/1.1 200 O\0K'), ...EITHER },
  { ...line('r-line-cr', 'a bare CR in the reason', 'HTTP/1.1 200 OK\rX-Injected: 1'), ...EITHER },
  line('r-line-space', 'two spaces before the status', 'HTTP/1.1  200 OK'),
  faulty('r-line-http2', 'FWD-18', 'frames of HTTP/2', '\0\0\x12\x04\0\0\0\0\0'.repeat(4)),
  faulty('r-http09', 'FWD-18', 'HTTP/0.9: only a body', '<html>hello</html>\r\n\r\n'),
  faulty('r-html', 'FWD-18', 'text without any line', 'hello'),
  faulty('r-nothing', 'FWD-18', 'nothing, then FIN', '', { tries: 2 }),
  faulty('r-nothing-reset', 'FWD-18', 'nothing, then a reset', says('', { end: 'reset' }), { tries: 2 }),
  faulty('r-half-line', 'FWD-18', 'half a status line', 'HTTP/1.1 2'),
  faulty('r-half-head', 'FWD-18', 'half a head', head('200 OK').slice(0, -3)),
  faulty(
    'r-half-head-reset',
    'FWD-18',
    'half a head, then a reset',
    says(head('200 OK').slice(0, -3), { end: 'reset' }),
  ),
  faulty('r-post-nothing', 'FWD-16', 'a POST is not retried', says('', { end: 'reset' }), {
    method: 'POST',
    requestBody: 'hello',
    tries: 1,
  }),
  faulty('r-silent', 'FWD-18', 'silence', says(''), { status: [504] }),
  faulty('r-silent-half', 'FWD-18', 'half a head, then silence', says('HTTP/1.1 200 OK\r\nX-Up'), {
    status: [504],
  }),
  faulty(
    'r-1m-field',
    'SMG-24',
    'a field of 1 MB',
    `${head('200 OK', `X-A: ${'a'.repeat(1_000_000)}`, 'Content-Length: 5')}hello`,
  ),
  cleaned(
    'r-3000-fields',
    'SMG-24',
    '3000 fields: none may vanish',
    `${head('200 OK', ...numbered(3_000), 'Content-Length: 5')}hello`,
    {
      kept: [['x-0'], ['x-2999']],
    },
  ),
  cleaned(
    'r-30k',
    'SMG-24',
    '30 KB of fields: none may vanish',
    `${head('200 OK', ...numbered(30, 1_000), 'Content-Length: 5')}hello`,
    {
      kept: [['x-0'], ['x-29']],
    },
  ),
  faulty(
    'r-endless',
    'SMG-24',
    'a head that does not end',
    head('200 OK', ...numbered(2_000, 1_000)).slice(0, -2),
  ),
  relayed(
    'r-slow-head',
    'FWD-20',
    'a head byte by byte',
    { pieces: () => [...byteByByte(head('200 OK', 'Content-Length: 5')), 'hello'], gapMs: 1 },
    {
      body: 'hello',
    },
  ),
  relayed('r-no-reason', 'FWD-4', 'no reason phrase', `${head('200 ', 'Content-Length: 5')}hello`, {
    body: 'hello',
  }),
  relayed(
    'r-no-reason-space',
    'FWD-4',
    'nor the space before it',
    `${head('200', 'Content-Length: 5')}hello`,
    { body: 'hello' },
  ),
  relayed(
    'r-http10',
    'FWD-4',
    'HTTP/1.0',
    `${head('200 OK', 'Content-Length: 5').replace('1.1', '1.0')}hello`,
    { body: 'hello' },
  ),
  relayed(
    'r-latin',
    'FWD-4',
    'bytes above 127 in a value',
    `${head('200 OK', 'X-Kept: caf\xe9', 'Content-Length: 5')}hello`,
    {
      kept: [['x-kept', /^caf\xe9$/]],
    },
  ),
];
