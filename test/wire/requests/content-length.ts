// Invalid, repeated and ambiguous Content-Length, followed by a canary (RFC 9112 §6.2, §6.3; SMG-1, SMG-5).
import type { RequestCase } from '../wire-case.ts';
import { either, refused, served } from './rows.ts';

const value = (id: string, title: string, written: string): RequestCase =>
  refused(id, 'SMG-5 SMG-26', title, (w) => w.post([`Content-Length: ${written}`], `hello${w.canary}`));

export const contentLength: readonly RequestCase[] = [
  value('cl-plus', 'a plus sign', '+5'),
  value('cl-minus', 'a minus sign', '-5'),
  value('cl-minus-zero', 'minus zero', '-0'),
  value('cl-hex', 'hexadecimal', '0x5'),
  value('cl-octal', 'octal', '0o5'),
  value('cl-empty', 'empty', ''),
  value('cl-blank', 'only white space', ' \t '),
  value('cl-float', 'with a fraction', '5.0'),
  value('cl-exponent', 'with an exponent', '5e0'),
  value('cl-underscore', 'digits with an underscore', '1_0'),
  value('cl-semicolon', 'a parameter', '5;a=1'),
  value('cl-quoted', 'in quotes', '"5"'),
  value('cl-inner-space', 'a space between digits', '1 0'),
  value('cl-inner-tab', 'a tab between digits', '1\t0'),
  value('cl-list-differs', 'a list of two lengths', '5, 6'),
  value('cl-list-junk', 'a list with junk', '5, abc'),
  value('cl-list-empty-first', 'a list with an empty first part', ', 5'),
  value('cl-list-empty-last', 'a list with an empty last part', '5,'),
  value('cl-word', 'a word', 'five'),
  value('cl-nul', 'NUL after the digits', '5\0'),
  value('cl-vtab', 'a vertical tab before the digits', '\v5'),
  value('cl-formfeed', 'a form feed after the digits', '5\f'),
  value('cl-nbsp', 'a no-break space before the digits', '\xa05'),
  value('cl-superscript', 'a superscript digit', '\xb2'),
  either('cl-twice-equal', 'SMG-5', 'twice, equal', (w) =>
    w.post(['Content-Length: 5', 'Content-Length: 5'], 'hello'),
  ),
  either('cl-list-equal', 'SMG-5', 'a list of one length twice', (w) =>
    w.post(['Content-Length: 5, 5'], 'hello'),
  ),
  refused('cl-twice-differs', 'SMG-5', 'twice, the first shorter', (w) =>
    w.post(['Content-Length: 5', `Content-Length: ${5 + w.canary.length}`], `hello${w.canary}`),
  ),
  refused('cl-twice-longer', 'SMG-5', 'twice, the first longer', (w) =>
    w.post([`Content-Length: ${5 + w.canary.length}`, 'Content-Length: 5'], `hello${w.canary}`),
  ),
  refused('cl-apart', 'SMG-5', 'twice, in other cases, with fields between', (w) =>
    w.post(['content-length: 5', 'Accept: */*', 'CONTENT-LENGTH: 0'], `hello${w.canary}`),
  ),
  refused('cl-space-colon', 'SMG-9', 'a space before the colon', (w) =>
    w.post(['Content-Length : 5'], `hello${w.canary}`),
  ),
  refused('cl-tab-colon', 'SMG-9', 'a tab before the colon', (w) =>
    w.post(['Content-Length\t: 5'], `hello${w.canary}`),
  ),
  refused('cl-folded', 'SMG-10', 'continued on a folded line', (w) =>
    w.post(['Content-Length:', ' 5'], `hello${w.canary}`),
  ),
  refused('cl-folded-digits', 'SMG-10', 'half its digits on a folded line', (w) =>
    w.post(['Content-Length: 1', ' 0'], `hello${w.canary}`),
  ),
  refused('cl-overflow-64', 'SMG-5', '2^64 + 5', (w) =>
    w.post(['Content-Length: 18446744073709551621'], `hello${w.canary}`),
  ),
  refused(
    'cl-overflow-32',
    'SMG-5',
    '2^32 + 5 with only five bytes',
    (w) => w.post(['Content-Length: 4294967301'], 'hello'),
    { status: [400, 413, 0], pass: ['refused', 'closed', 'waiting'], truncated: true },
  ),
  refused(
    'cl-huge',
    'SMG-5',
    'a hundred digits',
    (w) => w.post([`Content-Length: ${'9'.repeat(100)}`], `hello${w.canary}`),
    { status: [400, 413] },
  ),
  served('cl-zero-padded', 'SMG-5', 'leading zeros', (w) => w.post(['Content-Length: 0005'], 'hello'), {
    body: 'hello',
  }),
  served('cl-padded', 'SMG-5', 'white space around it', (w) => w.post(['Content-Length: \t 5 \t'], 'hello'), {
    body: 'hello',
  }),
  served('cl-no-space', 'SMG-5', 'no space after the colon', (w) => w.post(['Content-Length:5'], 'hello'), {
    body: 'hello',
  }),
  served('cl-zero', 'SMG-5', 'zero', (w) => w.post(['Content-Length: 0']), { body: '' }),
  served('cl-missing', 'SMG-21', 'a POST without any framing has no body', (w) => w.post(), { body: '' }),
];
