// Invalid, repeated and ambiguous response framing, before a second response (RFC 9112 §6.3; SMG-21, SMG-22).
import { chunks } from '../spot.ts';
import type { ResponseCase } from '../wire-case.ts';
import { cleaned, cutShort, faulty, head, relayed, STRAY } from './rows.ts';

const length = (id: string, title: string, ...lines: readonly string[]): ResponseCase =>
  faulty(id, 'SMG-22', title, `${head('200 OK', ...lines)}hello${STRAY}`);

export const lengths: readonly ResponseCase[] = [
  length('r-cl-plus', 'a length with a plus sign', 'Content-Length: +5'),
  length('r-cl-minus', 'a length below zero', 'Content-Length: -5'),
  length('r-cl-hex', 'a length in hex', 'Content-Length: 0x5'),
  length('r-cl-word', 'a length that is a word', 'Content-Length: five'),
  length('r-cl-empty', 'an empty length', 'Content-Length:'),
  length('r-cl-fraction', 'a length with a fraction', 'Content-Length: 5.0'),
  length('r-cl-overflow', 'a length of 2^64 + 5', 'Content-Length: 18446744073709551621'),
  length('r-cl-list', 'a list of two lengths', 'Content-Length: 5, 6'),
  length('r-cl-two', 'two lengths', 'Content-Length: 5', 'Content-Length: 6'),
  length('r-cl-two-reverse', 'two lengths, the longer first', 'Content-Length: 60', 'Content-Length: 5'),
  length('r-cl-space-colon', 'a space before the colon', 'Content-Length : 5'),
  length('r-te-twice', 'chunked twice', 'Transfer-Encoding: chunked, chunked'),
  length(
    'r-te-two-lines',
    'two codings on two lines',
    'Transfer-Encoding: chunked',
    'Transfer-Encoding: identity',
  ),
  length('r-te-not-last', 'chunked is not last', 'Transfer-Encoding: chunked, gzip'),
  cleaned(
    'r-cl-two-equal',
    'SMG-22',
    'two equal lengths',
    `${head('200 OK', 'Content-Length: 5', 'Content-Length: 5')}hello`,
    {
      body: 'hello',
    },
  ),
  cleaned(
    'r-cl-te',
    'SMG-22',
    'a length and chunks',
    `${head('200 OK', 'Content-Length: 5', 'Transfer-Encoding: chunked')}${chunks('hello')}`,
    {
      body: 'hello',
    },
  ),
  cleaned(
    'r-te-cl',
    'SMG-22',
    'chunks and a length',
    `${head('200 OK', 'Transfer-Encoding: chunked', 'Content-Length: 50')}${chunks('hello')}`,
    {
      body: 'hello',
    },
  ),
  cleaned(
    'r-te-unknown',
    'SMG-22',
    'an unknown coding',
    `${head('200 OK', 'Transfer-Encoding: xchunked')}hello`,
  ),
  cleaned(
    'r-te-http10',
    'SMG-22',
    'chunks in HTTP/1.0',
    `${head('200 OK', 'Transfer-Encoding: chunked').replace('1.1', '1.0')}${chunks('hello')}`,
  ),
  relayed('r-length', 'FWD-20', 'a length that is right', `${head('200 OK', 'Content-Length: 5')}hello`, {
    body: 'hello',
  }),
  relayed(
    'r-length-padded',
    'FWD-20',
    'a length with leading zeros',
    `${head('200 OK', 'Content-Length: 0005')}hello`,
    {
      body: 'hello',
    },
  ),
  relayed('r-zero', 'FWD-20', 'a length of zero', head('200 OK', 'Content-Length: 0'), { body: '' }),
  relayed(
    'r-chunked',
    'FWD-20',
    'chunks',
    `${head('200 OK', 'Transfer-Encoding: chunked')}${chunks('hel', 'lo')}`,
    {
      body: 'hello',
    },
  ),
  relayed('r-until-end', 'FWD-20', 'no framing: until the connection ends', `${head()}hello`, {
    body: 'hello',
  }),
  relayed(
    'r-extra',
    'SMG-22',
    'bytes after the response are not relayed',
    `${head('200 OK', 'Content-Length: 5')}hello${STRAY}`,
    {
      body: 'hello',
    },
  ),
  relayed(
    'r-extra-open',
    'SMG-22',
    'the same on a connection that stays',
    { pieces: () => [`${head('200 OK', 'Content-Length: 5')}hello${STRAY}`] },
    {
      body: 'hello',
    },
  ),
  relayed(
    'r-extra-chunked',
    'SMG-22',
    'bytes after the last chunk',
    { pieces: () => [`${head('200 OK', 'Transfer-Encoding: chunked')}${chunks('hello')}${STRAY}`] },
    {
      body: 'hello',
    },
  ),
  cutShort('r-short-fin', 'FWD-17', 'half a body, then FIN', `${head('200 OK', 'Content-Length: 50')}half`),
  cutShort('r-short-reset', 'FWD-17', 'half a body, then a reset', {
    pieces: () => [`${head('200 OK', 'Content-Length: 50')}half`],
    end: 'reset',
  }),
  cutShort(
    'r-short-large',
    'FWD-17',
    'half of 200 KB, then FIN',
    `${head('200 OK', 'Content-Length: 200000')}${'a'.repeat(100_000)}`,
  ),
  cutShort('r-short-silent', 'FWD-17', 'half a body, then silence', {
    pieces: () => [`${head('200 OK', 'Content-Length: 50')}half`],
  }),
];
