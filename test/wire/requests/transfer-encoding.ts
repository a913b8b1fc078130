// Transfer-Encoding with Content-Length, disguised, or with unknown codings (RFC 9112 §6.1; SMG-1 to 4, 14).
import { chunks } from '../spot.ts';
import type { RequestCase } from '../wire-case.ts';
import { either, refused, served } from './rows.ts';

/** A value other than `chunked`. A proxy that reads it as `chunked`, or ignores it, reads the canary. */
const value = (id: string, title: string, written: string, more?: Partial<RequestCase>): RequestCase =>
  refused(
    id,
    'SMG-2 SMG-3 SMG-4',
    title,
    (w) => w.post([`Transfer-Encoding: ${written}`, 'Content-Length: 5'], `0\r\n\r\n${w.canary}`),
    more,
  );

/** Lines that hide the field from some parsers. */
const hidden = (id: string, rules: string, title: string, ...lines: string[]): RequestCase =>
  refused(id, rules, title, (w) =>
    w.post([...lines, `Content-Length: ${5 + w.canary.length}`], `0\r\n\r\n${w.canary}`),
  );

const alone = (id: string, title: string, written: string, more?: Partial<RequestCase>): RequestCase =>
  refused(
    id,
    'SMG-3 SMG-4',
    title,
    (w) => w.post([`Transfer-Encoding: ${written}`], `${chunks('hello')}${w.canary}`),
    more,
  );

export const transferEncoding: readonly RequestCase[] = [
  hidden(
    'te-cl-longer',
    'SMG-1',
    'with a Content-Length that covers the next request',
    'Transfer-Encoding: chunked',
  ),
  refused('te-cl-first', 'SMG-1', 'with a Content-Length before it', (w) =>
    w.post([`Content-Length: ${5 + w.canary.length}`, 'Transfer-Encoding: chunked'], `0\r\n\r\n${w.canary}`),
  ),
  refused('te-cl-shorter', 'SMG-1', 'with a Content-Length that ends in the first chunk', (w) =>
    w.post(['Content-Length: 4', 'Transfer-Encoding: chunked'], chunks(w.canary)),
  ),
  refused('te-cl-zero', 'SMG-1', 'with Content-Length: 0', (w) =>
    w.post(['Content-Length: 0', 'Transfer-Encoding: chunked'], chunks(w.canary)),
  ),
  refused('te-cl-equal', 'SMG-1', 'with a Content-Length that is right for the framed bytes', (w) =>
    w.post(['Content-Length: 15', 'Transfer-Encoding: chunked'], chunks('hello')),
  ),
  refused('te-cl-bad', 'SMG-1 SMG-5', 'with an invalid Content-Length', (w) =>
    w.post(['Content-Length: x', 'Transfer-Encoding: chunked'], `0\r\n\r\n${w.canary}`),
  ),
  value('te-prefix', 'the beginning of chunked', 'chunk'),
  value('te-xchunked', 'a letter before chunked', 'xchunked'),
  value('te-chunkedx', 'a letter after chunked', 'chunkedx'),
  value('te-quoted', 'in quotes', '"chunked"'),
  value('te-single-quoted', 'in single quotes', "'chunked'"),
  value('te-vtab', 'a vertical tab before it', '\vchunked'),
  value('te-formfeed', 'a form feed before it', '\fchunked'),
  value('te-nbsp', 'a no-break space before it', '\xa0chunked'),
  value('te-nul', 'NUL after chunked', 'chunked\0'),
  value('te-del', 'DEL after chunked', 'chunked\x7f'),
  value('te-backspace', 'a backspace in it', 'chu\bnked'),
  value('te-parameter', 'with a parameter', 'chunked;q=1'),
  value('te-identity', 'identity', 'identity'),
  value('te-empty', 'empty', ''),
  value('te-comma', 'only a comma', ','),
  value('te-latin', 'a letter from outside ASCII', 'ch\xfcnked'),
  alone('te-gzip-chunked', 'gzip, chunked: an unsupported coding', 'gzip, chunked', {
    status: [501],
  }),
  alone('te-identity-chunked', 'identity, chunked', 'identity, chunked', {
    status: [400, 501],
    pass: ['refused', 'closed', 'forwarded'],
    requests: 2,
    methods: ['POST', 'GET'],
  }),
  alone('te-deflate-chunked', 'deflate, chunked', 'deflate,chunked', { status: [501] }),
  alone('te-twice-in-list', 'chunked, chunked', 'chunked, chunked', { status: [400, 501] }),
  alone('te-chunked-identity', 'chunked is not last: identity after it', 'chunked, identity'),
  alone('te-chunked-gzip', 'chunked is not last: gzip after it', 'chunked, gzip'),
  alone('te-trailing-comma', 'a comma after chunked', 'chunked,', { status: [400, 501] }),
  alone('te-leading-comma', 'a comma before chunked', ', chunked', { status: [400, 501] }),
  alone('te-gzip-only', 'gzip alone', 'gzip', { status: [400, 501] }),
  refused('te-two-lines', 'SMG-4', 'two lines: chunked, then identity', (w) =>
    w.post(['Transfer-Encoding: chunked', 'Transfer-Encoding: identity'], `0\r\n\r\n${w.canary}`),
  ),
  refused(
    'te-two-lines-reverse',
    'SMG-4',
    'two lines: identity, then chunked',
    (w) => w.post(['Transfer-Encoding: identity', 'Transfer-Encoding: chunked'], `0\r\n\r\n${w.canary}`),
    { status: [400, 501] },
  ),
  refused('te-two-lines-equal', 'SMG-4', 'two lines: chunked both', (w) =>
    w.post(['Transfer-Encoding: chunked', 'transfer-encoding: chunked'], `0\r\n\r\n${w.canary}`),
  ),
  hidden('te-space-colon', 'SMG-9', 'a space before the colon', 'Transfer-Encoding : chunked'),
  hidden('te-behind-lf', 'SMG-11', 'after a bare LF', 'X: x\nTransfer-Encoding: chunked'),
  hidden('te-behind-cr', 'SMG-11', 'after a bare CR', 'X: x\rTransfer-Encoding: chunked'),
  hidden('te-folded', 'SMG-10', 'its value on a folded line', 'Transfer-Encoding:', ' chunked'),
  hidden('te-folded-away', 'SMG-10', 'itself a folded line', 'X: x', ' Transfer-Encoding: chunked'),
  hidden(
    'te-leading-space',
    'SMG-10',
    'white space before its name, as the first field',
    ' Transfer-Encoding: chunked',
  ),
  hidden('te-nul-name', 'SMG-11', 'NUL in its name', 'Transfer\0-Encoding: chunked'),
  either(
    'te-underscore',
    'SMG-25',
    'with an underscore, an alias to CGI',
    (w) => w.post(['Transfer_Encoding: chunked', 'Content-Length: 5'], 'hello'),
    { body: 'hello', withheld: [['transfer_encoding']] },
  ),
  served(
    'te-mixed-case',
    'SMG-4',
    'Chunked, in another case',
    (w) => w.post(['tRANSFER-eNCODING: ChUnKeD'], chunks('hello')),
    { body: 'hello' },
  ),
  either(
    'te-padded',
    'SMG-4',
    'white space around chunked',
    (w) => w.post(['Transfer-Encoding: \t chunked \t'], chunks('hello')),
    { body: 'hello' },
  ),
  refused('te-http10', 'SMG-14', 'in HTTP/1.0', (w) =>
    w.line(
      `POST ${w.path} HTTP/1.0`,
      ['Connection: keep-alive', 'Transfer-Encoding: chunked'],
      `0\r\n\r\n${w.canary}`,
    ),
  ),
  refused('te-http10-cl', 'SMG-14 SMG-1', 'in HTTP/1.0, with a Content-Length', (w) =>
    w.line(
      `POST ${w.path} HTTP/1.0`,
      ['Connection: keep-alive', 'Transfer-Encoding: chunked', `Content-Length: ${5 + w.canary.length}`],
      `0\r\n\r\n${w.canary}`,
    ),
  ),
];
