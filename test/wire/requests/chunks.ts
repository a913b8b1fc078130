// The chunked coding: sizes, line ends, extensions (RFC 9112 §7.1; SMG-12, SMG-13). Some before a canary.
import { chunks } from '../spot.ts';
import type { RequestCase } from '../wire-case.ts';
import { either, refused, served } from './rows.ts';

const CODING = 'Transfer-Encoding: chunked';

/** An invalid chunked body. The proxy may have begun to forward it before the fault. */
const broken = (id: string, title: string, body: string, more?: Partial<RequestCase>): RequestCase =>
  refused(id, 'SMG-13', title, (w) => w.post([CODING], `${body}${w.canary}`), { truncated: true, ...more });

const sound = (id: string, title: string, body: string, means = 'hello'): RequestCase =>
  served(id, 'SMG-12', title, (w) => w.post([CODING], body), { body: means });

/** Reading it as chunks of `hello` is harmless if that is what arrives. */
const lenient = (id: string, title: string, body: string): RequestCase => ({
  ...refused(id, 'SMG-13', title, (w) => w.post([CODING], `${body}${w.canary}`)),
  body: 'hello',
  requests: 2,
  methods: ['POST', 'GET'],
});

const size = (id: string, title: string, written: string): RequestCase =>
  lenient(id, title, `${written}\r\nhello\r\n0\r\n\r\n`);

export const chunked: readonly RequestCase[] = [
  size('chunk-hex-mark', 'a size of 0x5', '0x5'),
  size('chunk-plus', 'a plus sign', '+5'),
  size('chunk-minus', 'a minus sign', '-5'),
  size('chunk-underscore', 'an underscore in the size', '0_5'),
  size('chunk-empty', 'an empty size', ''),
  size('chunk-word', 'letters beyond f', 'xyz'),
  size('chunk-nul', 'NUL after the size', '5\0'),
  size('chunk-leading-space', 'a space before the size', ' 5'),
  size('chunk-leading-tab', 'a tab before the size', '\t5'),
  size('chunk-vtab', 'a vertical tab before the size', '\v5'),
  size('chunk-inner-space', 'a space between digits', '0 5'),
  size('chunk-fraction', 'a fraction', '5.0'),
  size('chunk-comma', 'a list of two sizes', '5,5'),
  size('chunk-quoted', 'in quotes', '"5"'),
  size('chunk-cr', 'a bare CR after the size', '5\r'),
  size('chunk-overflow-64', '2^64 + 5', '10000000000000005'),
  size('chunk-overflow-80', '2^80 + 5', '100000000000000000005'),
  {
    ...size('chunk-minus-one', 'a size of sixteen f, which is too large', 'ffffffffffffffff'),
    truncated: true,
    pass: ['refused', 'closed', 'waiting'],
    status: [400, 413, 0],
  },
  size('chunk-latin', 'a digit from outside ASCII', '\xb25'),
  broken('chunk-spill', 'data longer than the size', '3\r\nhello\r\n0\r\n\r\n'),
  broken('chunk-short', 'data shorter than the size', '7\r\nhello\r\n0\r\n\r\n'),
  broken('chunk-data-no-crlf', 'no line end after the data', '5\r\nhello0\r\n\r\n'),
  broken('chunk-data-cr', 'a bare CR after the data', '5\r\nhello\r0\r\n\r\n'),
  lenient('chunk-data-lf', 'a bare LF after the data', '5\r\nhello\n0\r\n\r\n'),
  lenient('chunk-line-lf', 'a bare LF after the size', '5\nhello\r\n0\r\n\r\n'),
  lenient('chunk-lf-only', 'bare LFs only', '5\nhello\n0\n\n'),
  lenient('chunk-last-lf', 'a bare LF after the last chunk', '5\r\nhello\r\n0\n\r\n'),
  broken('chunk-crlf-twice', 'two line ends after the data', '5\r\nhello\r\n\r\n0\r\n\r\n'),
  broken('chunk-lf-cr', 'LF CR for a line end', '5\n\rhello\n\r0\n\r\n\r'),
  lenient('chunk-ext-lf', 'a bare LF in an extension', '5;a\nb\r\nhello\r\n0\r\n\r\n'),
  lenient('chunk-ext-cr', 'a bare CR in an extension', '5;a\rb\r\nhello\r\n0\r\n\r\n'),
  lenient('chunk-ext-nul', 'NUL in an extension', '5;a\0b\r\nhello\r\n0\r\n\r\n'),
  lenient('chunk-ext-lf-data', 'an extension that ends in a bare LF before a size', '5;\nhello\r\n0\r\n\r\n'),
  lenient('chunk-ext-lf-last', 'a bare LF in an extension of the last chunk', '5\r\nhello\r\n0;a\nb\r\n\r\n'),
  refused(
    'chunk-ext-large',
    'SMG-12',
    'an extension of 1 MB',
    (w) => w.post([CODING], `5;${'x'.repeat(1_000_000)}\r\nhello\r\n0\r\n\r\n`),
    { status: [413], body: 'hello' },
  ),
  either(
    'chunk-ext-many',
    'SMG-12',
    'a kilobyte of extension on each of 400 chunks',
    (w) => w.post([CODING], `${`1;${'x'.repeat(1_000)}\r\na\r\n`.repeat(400)}0\r\n\r\n`),
    { body: 'a'.repeat(400) },
  ),
  sound('chunk-ext', 'an extension is ignored', '5;name=value\r\nhello\r\n0\r\n\r\n'),
  sound('chunk-ext-quoted', 'a quoted extension is ignored', '5;name="a;b"\r\nhello\r\n0\r\n\r\n'),
  sound('chunk-ext-last', 'an extension of the last chunk', '5\r\nhello\r\n0;a=b\r\n\r\n'),
  sound('chunk-one', 'one chunk', chunks('hello')),
  sound('chunk-each', 'a chunk for each byte', chunks('h', 'e', 'l', 'l', 'o')),
  sound('chunk-upper', 'a size in capital hex', `A\r\n0123456789\r\n0\r\n\r\n`, '0123456789'),
  sound('chunk-zeros', 'leading zeros', '0000000005\r\nhello\r\n00000\r\n\r\n'),
  sound('chunk-none', 'only the last chunk', '0\r\n\r\n', ''),
  sound('chunk-binary', 'data with line ends and zeros', chunks('0\r\n\r\n\0'), '0\r\n\r\n\0'),
  either(
    'chunk-many',
    'SMG-24',
    '20 000 chunks of one byte',
    (w) => w.post([CODING], `${'1\r\na\r\n'.repeat(20_000)}0\r\n\r\n`),
    { body: 'a'.repeat(20_000) },
  ),
  either(
    'chunk-trailing-space',
    'SMG-13',
    'a space after the size',
    (w) => w.post([CODING], '5 \r\nhello\r\n0\r\n\r\n'),
    { body: 'hello' },
  ),
  either(
    'chunk-ext-space',
    'SMG-12',
    'white space around an extension',
    (w) => w.post([CODING], '5 ; a = b\r\nhello\r\n0\r\n\r\n'),
    { body: 'hello' },
  ),
];
