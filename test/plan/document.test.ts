// Tests the reader of documents: refused YAML, substituted values, hidden values.
import { describe, expect, it } from 'vitest';
import { readDocument } from '../../gateway/plan/read/document.ts';
import type { SecretRead } from '../../gateway/plan/read/interpolate.ts';
import { BOMBS } from '../support/bad-policies.ts';

const sources = {
  environment: { PORT: '4001', EMPTY: '', SECRET: 'hunter2: {x}' },
  outside: new Map<string, string>(),
  leavesItsFolder: () => false,
  readSecret: (path: string): SecretRead =>
    path === '/run/secret'
      ? { kind: 'read', text: 'from a file\n' }
      : { kind: 'unreadable', why: 'no such file' },
};
const read = (text: string | Uint8Array) =>
  readDocument('f.yaml', typeof text === 'string' ? new TextEncoder().encode(text) : text, sources);
const messages = (text: string) =>
  read(text).problems.map(({ line, column, message }) => `${line}:${column} ${message}`);

describe('YAML', () => {
  it('SUN-5: dates and words that other dialects convert stay text', () =>
    expect(read('{ a: 2026-06-01, b: no, c: on, d: 12:30 }').value).toEqual({
      a: '2026-06-01',
      b: 'no',
      c: 'on',
      d: '12:30',
    }));
  it('keys that start with x- are ignored', () =>
    expect(read('x-team: [a]\na: { x-b: 1, c: 2 }').value).toEqual({ a: { c: 2 } }));
  it.each([
    ['a byte of Latin-1', [...Buffer.from('a: 1\nb: caf'), 0xe9, 0x0a], '2:7', 'save the file as UTF-8'],
    ['UTF-16', [...Buffer.from('\ufeffa: 1\n', 'utf16le')], '1:1', 'it looks like UTF-16: save it as UTF-8'],
    [
      'a binary file',
      [0x7f, 0x45, 0x4c, 0x46, 0x02, 0x80, 0xff, 0x00, 0x0a],
      '1:6',
      'this is not a text file: name another',
    ],
  ])('%s is not UTF-8, and that is the only problem', (_what, bytes, position, hint) => {
    const document = read(Uint8Array.from(bytes));
    expect(document.value).toBeUndefined();
    expect(document.problems.map(({ line, column, message }) => `${line}:${column} ${message}`)).toEqual([
      `${position} not UTF-8 text`,
    ]);
    expect(document.problems[0]?.hint).toBe(hint);
  });
  it('a file cut at its limit is too large, even if the cut splits a character', () =>
    expect(read(Buffer.from('é'.repeat(600_000)).subarray(0, 1_000_001)).problems).toMatchObject([
      { line: 1, column: 1, message: 'the file is larger than 1 MB' },
    ]));
  it('a byte order mark and CRLF make no difference', () =>
    expect(read('\ufeffa: 1\r\nb: x\r\n').value).toEqual({ a: 1, b: 'x' }));
  it('an alias of a repeated anchor gets the last one above it', () =>
    expect(read('{ a: &x 1, b: *x, c: &x 2, d: *x }').value).toEqual({ a: 1, b: 1, c: 2, d: 2 }));
  it('thousands of aliases are resolved quickly', () => {
    const before = process.cpuUsage();
    expect(read(`a: &x {}\nb: [${'*x, '.repeat(19_000)}*x]\n`).problems).toEqual([]);
    expect(process.cpuUsage(before).user).toBeLessThan(4_000_000);
  });
  it.each([
    ['a: !!timestamp 2027-04-15', 16],
    ['a: !!binary aGVsbG8=', 13],
  ])('a tag that does not give text is reported: %s', (text, column) =>
    expect(messages(text)).toEqual([
      `1:${column} a tag or a %YAML line changes the type of this value: remove it`,
    ]),
  );
  it('%YAML 1.1 is reported, instead of the map that a date becomes', () =>
    expect(messages('%YAML 1.1\n---\na: 2027-04-15\n')).toEqual([
      '3:4 a tag or a %YAML line changes the type of this value: remove it',
    ]));
  it('aliases are replaced by their targets', () =>
    expect(read('x-day: &day 2026-06-01\na: *day').value).toEqual({ a: '2026-06-01' }));

  it.each([
    ['a tab', 'a:\n\tb: 1\nc: 2\n', '2:1', 'write spaces'],
    [
      'a line too far left',
      'a:\n  b:\n    c: 1\n   d: 2\n    e: 3\n',
      '4:1',
      'align the line with the others',
    ],
    ['a line too far right', 'a:\n  b: 1\n    c: 2\n', '2:6', 'align the next line with this one'],
    ['a value with a colon', 'a: b: c\n', '1:4', 'quote a value that has a colon and a space'],
    ['a key without a colon', 'a: 1\nb 2\nc: 3\n', '2:1', 'is a colon missing after the key'],
    ['a colon without a space', 'a: 1\nb:2\n', '2:1', 'or a space after the colon'],
    ['a comma left out', '{ a: 1 b: 2 }\n', '1:6', 'is a comma missing'],
    ['a reserved character', 'a: { b: @c }\n', '1:9', 'write the whole value in quotes'],
    ['a quote that is left open', 'a: 1\nb: { c: "d, e: 2 }\nf: 3\n', '2:9', 'write " where the value ends'],
    [
      'an open quote that a later line seems to close',
      "a:\n  - { b: 'c }\n  - { b: 'd' }\n",
      '2:10',
      "write ' where the",
    ],
    ['a quote that a later line closes', 'a: "b\n  c" d\ne: 1\n', '1:4', 'write " where the value ends'],
    ['an open quote at the end of the file', "a: 1\nb: 'c", '2:4', "write ' where the value ends"],
    ['an apostrophe in quotes', "a: 'it's'\nb: 1\n", '1:8', 'inside is written twice'],
    ['a second key', 'a: 1\na: 2\n', '2:1', 'remove one of them'],
    ['an empty text', '', '1:1', 'write it, or remove the file'],
    ['a brace left open', 'a: { b: 1\nc: 3\n', '2:1', 'is a } missing above'],
    ['a bracket left open', 'a: [\n1\n]\nb: 1\n', '2:1', 'or should this line be indented further'],
    ['a brace too many', 'a: { b: 1 } }\nc: 1\nd: 2\n', '1:13', 'remove this }, or open its bracket'],
    ['a comma too many', 'a: [1,,2]\n', '1:7', 'or remove the comma'],
    ['no comma', 'a: ["b" "c"]\n', '1:9', 'write a comma'],
    ['a Windows path', 'a: "c:\\data"\n', '1:7', 'write the backslash twice'],
    ['a comment without a space before it', 'a: "b"#c\n', '1:7', 'write a space before the #'],
    ['a star alone', 'a: *\n', '1:4', 'quote a value that begins'],
    ['a tag of another tool', 'a: !Ref b\n', '1:4', 'quote a value that begins'],
    ['text after a bar', 'a: | b\n  c\n', '1:6', 'write nothing else on the line'],
    ['a list in the line of its key', 'a: - b\n', '1:4', 'or write it as [ … ]'],
    ['a tab in a block', 'a: |\n\tb\n', '2:1', 'write spaces before'],
    ['two maps of JSON', '{"a": 1}\n{"b": 2}\n', '2:1', 'one file has one document'],
  ])('%s is one finding with a hint', (_what, text, place, hint) => {
    expect(read(text).problems.map((each) => `${each.line}:${each.column} ${each.hint}`)).toEqual([
      expect.stringContaining(`${place} `),
    ]);
    expect(read(text).problems[0]?.hint).toContain(hint);
  });

  it.each([
    ['a second key of the same name', 'a: 1\nb: 2\na: 3\n', '3:1 the key "a" is already given above'],
    ['a second document', 'a: 1\n---\nb: 2\n', '2:1 a second document begins here; write one per file'],
    ['an empty file', '', '1:1 the file is empty'],
    ['only comments', '# a\n', '1:1 the file is empty'],
    ['a key that is no word', '[a]: 1\n', '1:1 keys are plain words'],
    [
      'a key that would reach a prototype',
      'a:\n  __proto__: { polluted: 1 }\n',
      '2:3 this key is not allowed',
    ],
    [
      `an unquoted \${…} in braces`,
      `a: { b: \${env:PORT} }\nc: 1\n`,
      `1:9 an unquoted \${…} is not allowed inside { } or [ ]`,
    ],
    [
      `an unquoted \${…} in brackets`,
      `a: [http://h:\${env:PORT:-1}, b]\n`,
      `1:14 an unquoted \${…} is not allowed inside { } or [ ]`,
    ],
    [
      'an unquoted {version} in braces',
      'a: [ { path: /api/{version}/orders } ]\nc: 1\n',
      '1:19 an unquoted {…} is not allowed inside { } or [ ]',
    ],
    [
      'an unquoted {version} in brackets',
      'a: [vnd.acme.{version}+json, "b"]\nb: 1\n',
      '1:14 an unquoted {…} is not allowed inside { } or [ ]',
    ],
    ['a missing comma', 'a: [ { b: 1 }{ c: 2 } ]\n', expect.not.stringContaining('unquoted')],
    ['a bracket left open', 'a: [1, 2\nb: 3\n', expect.stringMatching(/^2:1 /)],
    ['an alias without an anchor', 'a: 1\nb: *day\n', '2:4 no anchor above has the name &day'],
    ['an alias of itself', 'a: &a [*a]\n', '1:8 aliases or nesting make this file too large'],
  ])('%s is one problem with its position', (_name, text, message) =>
    expect(messages(text)).toEqual([message]),
  );

  it('a key named __proto__ pollutes nothing', () => {
    read('__proto__: { polluted: 1 }\na: { constructor: { prototype: { polluted: 1 } } }\n');
    expect(Reflect.get({}, 'polluted')).toBeUndefined();
  });

  it.each(BOMBS)('%s is refused within a second of CPU time', (_name, text) => {
    // CPU time, so that a busy machine causes no failure.
    const before = process.cpuUsage();
    const document = read(text);
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1_000).toBeLessThan(1_000);
    expect(document.problems.length).toBeGreaterThan(0);
    expect(document.value).toBeUndefined();
  });
});

describe('interpolation', () => {
  it.each([
    [`"http://127.0.0.1:\${env:PORT}"`, 'http://127.0.0.1:4001'],
    [`"\${env:NONE:-embedded:./data}"`, 'embedded:./data'],
    [`"\${env:EMPTY:-d}"`, 'd'],
    [`"\${env:EMPTY}"`, ''],
    [`"\${env:NONE:-}"`, ''],
    [`"\${file:/run/secret}"`, 'from a file'],
    [`"\${env:PORT}/\${env:PORT}"`, '4001/4001'],
  ])('%s', (scalar, value) => expect(read(`a: ${scalar}`).value).toEqual({ a: value }));

  it('a substituted value never becomes structure', () =>
    expect(read(`a: "\${env:SECRET}"`).value).toEqual({ a: 'hunter2: {x}' }));
  it('a substituted value is not substituted again', () =>
    expect(
      readDocument('f', new TextEncoder().encode(`a: "\${env:A}"`), {
        ...sources,
        environment: { A: `\${env:B}` },
      }).value,
    ).toEqual({ a: `\${env:B}` }));

  it.each([
    [`a: "\${env:NONE}"`, '1:4 environment variable NONE is not set and has no default'],
    [`a: "\${file:/nowhere}"`, '1:4 cannot read the file /nowhere: no such file'],
    [`a: "\${HOME}"`, '1:4 unknown interpolation'],
  ])('%s has no value', (text, message) => expect(messages(text)).toEqual([message]));

  it.each([
    [`"\${env:SECRET}"`, 'SECRET'],
    [`"\${env:SECRET}-\${env:NONE:-x}"`, 'SECRET, the default of NONE'],
    [`"\${env:EMPTY:-x}"`, 'the default of EMPTY'],
    [`"\${file:/run/secret}"`, '/run/secret'],
  ])('the value of %s is hidden, its source is shown', (scalar, from) => {
    const document = read(`a: ${scalar}\nb: plain`);
    expect(document.show(['a'], 'hunter2: {x}')).toBe(`[redacted] (from ${from})`);
    expect(document.isSecret(['a'])).toBe(true);
    expect(document.show(['b'], 'plain')).toBe('"plain"');
    expect(document.isSecret(['b'])).toBe(false);
  });
});
