// Invalid and incomplete chunked responses, with a visible early end (RFC 9112 §7.1; SMG-13, SMG-22, FWD-17).
import { type ResponseCase, says } from '../wire-case.ts';
import { cleaned, cutShort, head, relayed } from './rows.ts';

const CHUNKED = head('200 OK', 'Transfer-Encoding: chunked');

const bad = (id: string, title: string, body: string): ResponseCase =>
  cutShort(id, 'SMG-22', title, CHUNKED + body);

export const chunkedAnswers: readonly ResponseCase[] = [
  bad('r-chunk-word', 'a size that is no hex', '5\r\nhello\r\nxyz\r\nmore\r\n0\r\n\r\n'),
  bad('r-chunk-first', 'a first size that is no hex', 'xyz\r\nhello\r\n0\r\n\r\n'),
  bad('r-chunk-minus', 'a size below zero', '-5\r\nhello\r\n0\r\n\r\n'),
  bad('r-chunk-hex-mark', 'a size of 0x5', '0x5\r\nhello\r\n0\r\n\r\n'),
  bad('r-chunk-overflow', 'a size of 2^64 + 5', '10000000000000005\r\nhello\r\n0\r\n\r\n'),
  bad('r-chunk-spill', 'data longer than its size', '3\r\nhello\r\n0\r\n\r\n'),
  bad('r-chunk-nul', 'NUL in a size', '5\0\r\nhello\r\n0\r\n\r\n'),
  bad('r-chunk-no-last', 'no last chunk', '5\r\nhello\r\n'),
  bad('r-chunk-half', 'half a chunk', '9\r\nhello'),
  bad('r-chunk-half-size', 'half a size', '5\r\nhello\r\n5'),
  bad('r-chunk-half-end', 'the last chunk without its end', '5\r\nhello\r\n0\r\n'),
  bad('r-chunk-half-trailer', 'half a trailer', '5\r\nhello\r\n0\r\nX-Sum: 1'),
  cutShort('r-chunk-none', 'FWD-17', 'a head and no chunk', CHUNKED),
  cutShort(
    'r-chunk-reset',
    'FWD-17',
    'a chunk, then a reset',
    says(`${CHUNKED}5\r\nhello\r\n`, { end: 'reset' }),
  ),
  cutShort('r-chunk-silent', 'FWD-17', 'a chunk, then silence', says(`${CHUNKED}5\r\nhello\r\n`)),
  relayed(
    'r-chunk-extension',
    'SMG-12',
    'extensions are ignored',
    `${CHUNKED}5;a=b\r\nhello\r\n0;c\r\n\r\n`,
    { body: 'hello' },
  ),
  relayed('r-chunk-trailer', 'FWD-14', 'a trailer', `${CHUNKED}5\r\nhello\r\n0\r\nX-Sum: 1\r\n\r\n`, {
    body: 'hello',
    withheld: [['x-sum']],
  }),
  cleaned(
    'r-chunk-trailer-length',
    'FWD-14',
    'a trailer that is a length',
    `${CHUNKED}5\r\nhello\r\n0\r\nContent-Length: 1\r\n\r\n`,
    {
      pass: ['forwarded', 'cut', 'unavailable'],
      body: 'hello',
    },
  ),
  relayed(
    'r-chunk-many',
    'FWD-20',
    '2000 chunks of one byte',
    `${CHUNKED}${'1\r\na\r\n'.repeat(2_000)}0\r\n\r\n`,
    {
      body: 'a'.repeat(2_000),
    },
  ),
  relayed(
    'r-chunk-slow',
    'FWD-20',
    'byte by byte',
    { pieces: () => [CHUNKED, ...'5\r\nhello\r\n0\r\n\r\n'], gapMs: 5 },
    {
      body: 'hello',
    },
  ),
  cleaned('r-chunk-lf', 'SMG-13', 'bare LFs for line ends', `${CHUNKED}5\nhello\n0\n\n`, {
    pass: ['cut', 'unavailable', 'forwarded'],
    body: 'hello',
  }),
];
