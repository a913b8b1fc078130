// Invalid and ambiguous field lines, followed by a canary (RFC 9112 §5, §2.2; SMG-9 to 11, SMG-25).
import type { RequestCase } from '../wire-case.ts';
import { either, refused, served } from './rows.ts';

const broken = (id: string, rules: string, title: string, ...lines: string[]): RequestCase =>
  refused(id, rules, title, (w) => w.get(lines, w.canary), { requests: 2, withheld: [['x-injected']] });

const kept = (id: string, title: string, line: string, value: RegExp): RequestCase =>
  served(id, 'FWD-4', title, (w) => w.get([line]), { kept: [['x-kept', value]] });

/** Names that CGI-like upstreams read as if they had hyphens. */
const alias = (name: string): RequestCase =>
  either(
    `alias-${name.replaceAll('_', '-').toLowerCase()}`,
    'SMG-25',
    `${name} does not shadow its twin`,
    (w) => w.get([`${name}: forged`]),
    { withheld: [[name], [name.replaceAll('_', '-'), /forged/]] },
  );

export const fieldSyntax: readonly RequestCase[] = [
  broken('field-folded', 'SMG-10', 'a folded line', 'X-A: 1', ' 2'),
  broken('field-folded-tab', 'SMG-10', 'a line folded with a tab', 'X-A: 1', '\t2'),
  broken('field-folded-empty', 'SMG-10', 'a folded line of white space', 'X-A: 1', ' '),
  broken('field-folded-host', 'SMG-10', 'a folded line after Host', ' X-A: 1'),
  broken('field-space-colon', 'SMG-9', 'a space before the colon', 'X-A : 1'),
  broken('field-tab-colon', 'SMG-9', 'a tab before the colon', 'X-A\t: 1'),
  broken('field-no-colon', 'SMG-9', 'no colon', 'X-A'),
  broken('field-no-name', 'SMG-9', 'no name', ': 1'),
  broken('field-name-space', 'SMG-9', 'a space in the name', 'X A: 1'),
  broken('field-name-slash', 'SMG-9', 'a slash in the name', 'X/A: 1'),
  broken('field-name-at', 'SMG-9', 'an at sign in the name', 'X@A: 1'),
  broken('field-name-bracket', 'SMG-9', 'brackets in the name', '(X-A): 1'),
  broken('field-name-quote', 'SMG-9', 'quotes around the name', '"X-A": 1'),
  broken('field-name-latin', 'SMG-9', 'a byte above 127 in the name', 'X-\xe4: 1'),
  broken('field-name-nul', 'SMG-11', 'NUL in the name', 'X-\0A: 1'),
  broken('field-name-cr', 'SMG-11', 'a bare CR in the name', 'X-\rA: 1'),
  broken('field-name-del', 'SMG-11', 'DEL in the name', 'X-A\x7f: 1'),
  broken('field-nul', 'SMG-11', 'NUL in a value', 'X-A: a\0b'),
  broken('field-cr', 'SMG-11', 'a bare CR in a value', 'X-A: a\rX-Injected: 1'),
  broken('field-cr-end', 'SMG-11', 'a bare CR at the end of a value', 'X-A: a\r'),
  broken('field-lf', 'SMG-11', 'a bare LF in a value', 'X-A: a\nX-Injected: 1'),
  broken('field-bell', 'SMG-11', 'a control character in a value', 'X-A: a\x07b'),
  broken('field-escape', 'SMG-11', 'an escape character in a value', 'X-A: \x1b[2J'),
  broken('field-del', 'SMG-11', 'DEL in a value', 'X-A: a\x7fb'),
  broken('field-lf-cr', 'SMG-11', 'LF CR for a line end', 'X-A: a\n\rX-Injected: 1'),
  refused(
    'head-all-lf',
    'SMG-11',
    'bare LFs only',
    (w) => w.get([], '').replaceAll('\r\n', '\n') + w.canary,
    {
      status: [400, 505],
      requests: 2,
    },
  ),
  refused(
    'head-end-lf',
    'SMG-11',
    'a bare LF for the empty line',
    (w) => `GET ${w.path} HTTP/1.1\r\nHost: ${w.host}\r\n\n${w.canary}`,
    { requests: 2 },
  ),
  refused(
    'head-line-lf',
    'SMG-11',
    'a bare LF after the request line',
    (w) => `GET ${w.path} HTTP/1.1\nHost: ${w.host}\r\n\r\n${w.canary}`,
    { status: [400, 505], requests: 2 },
  ),
  refused(
    'head-line-cr',
    'SMG-11',
    'a bare CR after the request line',
    (w) => `GET ${w.path} HTTP/1.1\rHost: ${w.host}\r\n\r\n${w.canary}`,
  ),
  kept('field-latin', 'bytes above 127 in a value survive', 'X-Kept: caf\xe9 \xff', /^caf\xe9 \xff$/),
  kept('field-tab', 'a tab in a value survives', 'X-Kept: a\tb', /^a\tb$/),
  kept('field-empty', 'an empty value is one', 'X-Kept:', /^$/),
  kept('field-odd-name', 'all characters of a token make a name', "X-Kept: 1\r\n!#$%&'*+.^`|~9: 1", /^1$/),
  kept('field-colons', 'colons in a value', 'X-Kept: a:b: c', /^a:b: c$/),
  served(
    'field-proto',
    'FWD-4',
    'names that objects have',
    (w) => w.get(['__proto__: 1', 'constructor: 2', 'X-Kept: 3']),
    { kept: [['x-kept', /^3$/]] },
  ),
  alias('X_Forwarded_For'),
  alias('X_Forwarded_Host'),
  alias('X_Real_IP'),
  alias('Content_Length'),
  alias('API_Version'),
  alias('X_Request_Id'),
];
