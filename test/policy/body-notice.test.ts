// The `_deprecation` member: its content, the responses that get it, and the bytes that stay unchanged.
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isEdited, judgeHead, MAX_BYTES } from '../../gateway/policy/body-notice/editable.ts';
import {
  createNotice,
  type NoticeFacts,
  renewDigest,
  splice,
} from '../../gateway/policy/body-notice/notice.ts';
import { anyCharacter } from '../support/any-text.ts';

const FACTS: NoticeFacts = {
  sunset: Date.UTC(2026, 5, 1),
  replacement: 'https://api.example.com/api/v2/users/7',
  guide: 'https://dev.example.com/migrate/v2',
  reason: 'money amounts become integers',
};
const NOTICE = createNotice(FACTS);
const MEMBER = NOTICE.member;
const BOM = '\u{feff}';

function spliced(text: string | Buffer): string {
  const result = splice(Buffer.from(text), NOTICE);
  return result.kind === 'left' ? result.why : result.body.toString();
}

describe('the notice', () => {
  it('has the members of the specification, in its order', () => {
    expect(MEMBER).toBe(
      '"_deprecation":{"deprecated":true,"sunset_date":"2026-06-01",' +
        '"replacement":"https://api.example.com/api/v2/users/7",' +
        '"migration_guide":"https://dev.example.com/migrate/v2","reason":"money amounts become integers"}',
    );
  });

  it('omits unknown values', () => {
    const nothing = { sunset: undefined, replacement: undefined, guide: undefined, reason: undefined };
    expect(createNotice(nothing).member).toBe('"_deprecation":{"deprecated":true}');
  });

  it('SUN-2: the sunset is the day in UTC', () => {
    const sunset = Date.UTC(2026, 5, 1, 23, 59, 59);
    expect(createNotice({ ...FACTS, sunset }).member).toContain('"sunset_date":"2026-06-01"');
  });

  it('BODY-5: the suffix is ~d and eight digits of the SHA-256 of the member', () => {
    const digest = createHash('sha256').update(MEMBER).digest('hex');
    expect(NOTICE.suffix).toBe(`~d${digest.slice(0, 8)}`);
    expect(createNotice(FACTS)).toEqual(NOTICE);
  });

  it.each<[string, Partial<NoticeFacts>]>([
    ['sunset', { sunset: Date.UTC(2026, 8, 1) }],
    ['replacement', { replacement: 'https://api.example.com/api/v2/users/8' }],
    ['guide', { guide: undefined }],
    ['reason', { reason: 'another' }],
  ])('BODY-5: another %s gives another suffix', (_what, change) => {
    expect(createNotice({ ...FACTS, ...change }).suffix).not.toBe(NOTICE.suffix);
  });

  it('writes any reason as one JSON string', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), (reason) => {
        const { member } = createNotice({ ...FACTS, reason });
        expect(JSON.parse(`{${member}}`)._deprecation.reason).toBe(reason);
      }),
    );
  });
});

describe('the splice', () => {
  it.each([
    [
      'BODY-2: numbers stay as written',
      '{"id":12345678901234567890,"x":1.0}',
      `{${MEMBER},"id":12345678901234567890,"x":1.0}`,
    ],
    ['BODY-2: an empty object has no comma', '{}', `{${MEMBER}}`],
    ['BODY-2: an empty object with whitespace has no comma', ' {\r\n\t } ', ` {${MEMBER}\r\n\t } `],
    [
      'BODY-2: a byte order mark and whitespace stay before the object',
      `${BOM}\n\t {"a":1}`,
      `${BOM}\n\t {${MEMBER},"a":1}`,
    ],
    ['BODY-2: duplicate members stay', '{"a":1,"a":2}', `{${MEMBER},"a":1,"a":2}`],
    [
      'BODY-2: a nested _deprecation is ignored',
      '{"a":{"_deprecation":1}}',
      `{${MEMBER},"a":{"_deprecation":1}}`,
    ],
    [
      'BODY-2: _deprecation in a string is ignored',
      '{"a":"\\"_deprecation\\":1"}',
      `{${MEMBER},"a":"\\"_deprecation\\":1"}`,
    ],
    [
      'a member __proto__ is an ordinary member',
      '{"__proto__":{"_deprecation":1}}',
      `{${MEMBER},"__proto__":{"_deprecation":1}}`,
    ],
    ['a member with an empty name is an ordinary member', '{"":{}}', `{${MEMBER},"":{}}`],
  ])('%s', (_title, body, edited) => expect(spliced(body)).toBe(edited));

  it.each([
    ['an array', '[{"a":1}]', 'not_object'],
    ['a string', '"{}"', 'not_object'],
    ['a number', '1', 'not_object'],
    ['null', 'null', 'not_object'],
    ['an empty body', '', 'not_object'],
    ['whitespace', ' \n', 'not_object'],
    ['whitespace that JSON does not allow', '\u{a0}{}', 'not_object'],
    ['half an object', '{"a":1', 'malformed'],
    ['a trailing comma', '{"a":1,}', 'malformed'],
    ['a comment', '{/* */}', 'malformed'],
    ['two objects', '{}\n{}', 'malformed'],
    ['a second byte order mark', `${BOM}${BOM}{}`, 'not_object'],
    ['a byte order mark after the brace', `{${BOM}}`, 'malformed'],
    ['bytes that are no UTF-8', Buffer.from('{"a":"\xe9"}', 'latin1'), 'malformed'],
    ['UTF-16', Buffer.from('{"a":1}', 'utf16le'), 'malformed'],
    ['an object that has _deprecation', '{"a":1,"_deprecation":null}', 'own_member'],
    ['an object that has an escaped _deprecation', '{"\\u005fdeprecat\\u0069on":{}}', 'own_member'],
    ['an object that has _deprecation twice', '{"_deprecation":1,"_deprecation":2}', 'own_member'],
  ])('BODY-1: does not edit %s', (_title, body, why) => expect(spliced(body)).toBe(why));

  it('accepts deeply nested JSON', () => {
    const deep = `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
    expect(['malformed', `{${MEMBER},${deep.slice(1)}`]).toContain(spliced(deep));
  });
});

const blanks = fc.string({ unit: fc.constantFrom(' ', '\t', '\n', '\r'), maxLength: 3 });
const numbers = fc.constantFrom('0', '-0', '1.0', '1e2', '1E+2', '-1.50', '12345678901234567890', '0.1e-7');
const names = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 6 }),
  fc.constantFrom('a', 'b', '__proto__', 'deprecation', '_deprecation ', '', '7'),
);
const strings = fc
  .tuple(names, fc.boolean())
  .map(([text, escaped]) => (escaped ? withEscapes(text) : JSON.stringify(text)));
/** Any valid JSON: any whitespace, any spelling of numbers and strings, repeated names. */
const { value: json, object } = fc.letrec<{ value: string; array: string; object: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    numbers,
    strings,
    fc.constantFrom('true', 'false', 'null'),
    tie('array'),
    tie('object'),
  ),
  array: fc
    .tuple(blanks, fc.array(fc.tuple(blanks, tie('value'), blanks), { maxLength: 3 }))
    .map(
      ([blank, items]) => `[${items.length === 0 ? blank : items.map((item) => item.join('')).join(',')}]`,
    ),
  object: fc
    .tuple(
      blanks,
      fc.array(fc.tuple(blanks, strings, blanks, blanks, tie('value'), blanks), { maxLength: 4 }),
    )
    .map(([blank, members]) => {
      const written = members.map(([b1, name, b2, b3, value, b4]) => `${b1}${name}${b2}:${b3}${value}${b4}`);
      return `{${members.length === 0 ? blank : written.join(',')}}`;
    }),
}));
const around = fc.tuple(fc.constantFrom('', BOM), blanks, blanks);

function withEscapes(text: string): string {
  const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return `"${text.split('').map(escaped).join('')}"`;
}

describe('BODY-2: for any object', () => {
  it('the bytes outside the inserted member stay unchanged', () => {
    fc.assert(
      fc.property(object, around, (text, [mark, before, after]) => {
        const body = Buffer.from(mark + before + text + after);
        const result = splice(body, NOTICE);
        if (result.kind === 'left') {
          expect(result.why).toBe('own_member');
          return;
        }
        const at = Buffer.byteLength(mark + before) + 1;
        const comma = Object.keys(JSON.parse(text)).length > 0 ? ',' : '';
        const length = Buffer.byteLength(MEMBER + comma);
        expect(result.body.subarray(at, at + length).toString()).toBe(MEMBER + comma);
        expect(Buffer.concat([result.body.subarray(0, at), result.body.subarray(at + length)])).toEqual(body);
      }),
      { numRuns: 500 },
    );
  });

  it('the result is the same object with one more member', () => {
    fc.assert(
      fc.property(object, around, (text, [mark, before, after]) => {
        const result = splice(Buffer.from(mark + before + text + after), NOTICE);
        if (result.kind === 'left') return;
        const { _deprecation, ...rest } = JSON.parse(result.body.toString().replace(BOM, ''));
        expect(_deprecation).toEqual(JSON.parse(`{${MEMBER}}`)._deprecation);
        expect(JSON.stringify(rest)).toBe(JSON.stringify(JSON.parse(text)));
      }),
      { numRuns: 500 },
    );
  });

  it('other JSON and malformed JSON stay unchanged', () => {
    const bytes = fc.uint8Array({ maxLength: 40 }).map((array) => Buffer.from(array));
    const cut = fc.tuple(object, fc.nat()).map(([text, at]) => text.slice(0, at % text.length));
    const others = fc.oneof(
      json.filter((text) => !text.startsWith('{')),
      cut,
      bytes,
    );
    fc.assert(
      fc.property(others, (body) => {
        const isObject = /^[\ufeff \t\r\n]*\{.*\}[ \t\r\n]*$/s.test(body.toString());
        if (!isObject) expect(splice(Buffer.from(body), NOTICE).kind).toBe('left');
      }),
      { numRuns: 500 },
    );
  });
});

describe('the headers of a response', () => {
  const JSON_HEAD = { 'content-type': 'application/json' };

  it.each([200, 201, 202])('BODY-1: %i with JSON may be edited', (status) => {
    expect(judgeHead(status, JSON_HEAD)).toEqual({ kind: 'editable', coding: undefined });
  });

  it.each([203, 204, 206, 207, 301, 304, 400, 404, 500])('BODY-1: %i is never edited', (status) => {
    expect(judgeHead(status, JSON_HEAD)).toBeUndefined();
  });

  it.each(['GET', 'HEAD', 'POST', 'PUT', 'PATCH'])('BODY-1: responses to %s are edited', (method) => {
    expect(isEdited(method)).toBe(true);
  });

  it.each(['DELETE', 'OPTIONS', 'get'])('BODY-1: responses to %s are not edited', (method) => {
    expect(isEdited(method)).toBe(false);
  });

  it.each([
    'application/json',
    'Application/JSON ; charset=UTF-8',
    'application/json;charset="utf-8"',
    'application/vnd.acme.v1+json',
    'application/hal+json; profile="a;b"',
  ])('BODY-1: %s is JSON', (type) => {
    expect(judgeHead(200, { 'content-type': type })).toMatchObject({ kind: 'editable' });
  });

  it.each([
    undefined,
    '',
    'text/html',
    'text/json',
    'text/event-stream',
    'application/x-ndjson',
    'application/json-seq',
    'application/jsonl',
    'application/stream+json',
    'application/geo+json-seq',
    'application/problem+json',
    'Application/Problem+JSON; charset=utf-8',
    'application/linkset+json',
    'application/jwk-set+json',
    'application/jwk+json',
    'application/jrd+json',
    'application/jose+json',
    'application/jose',
    'application/jwt',
    'application/merge-patch+json',
    'application/json; charset=iso-8859-1',
    'application/json; charset=us-ascii',
    'application/json; charset=utf-8; charset=utf-16',
    'application/json/x',
    'image/svg+json',
  ])('BODY-1: %s is not edited', (type) => {
    expect(judgeHead(200, { 'content-type': type })).toEqual({ kind: 'left', why: 'not_json' });
  });

  it.each([
    ['CACHE-4: no-transform', { 'cache-control': 'public, No-Transform' }, 'no_transform'],
    [
      'CACHE-4: no-transform on a second line',
      { 'cache-control': ['public', 'no-transform'] },
      'no_transform',
    ],
    ['RNG-1: a partial body', { 'content-range': 'bytes 0-1/2' }, 'partial'],
    ['BODY-1: one byte over the limit', { 'content-length': String(MAX_BYTES + 1) }, 'too_large'],
    ['BODY-3: an unknown coding', { 'content-encoding': 'compress' }, 'coding'],
    ['BODY-3: two codings', { 'content-encoding': 'gzip, br' }, 'coding'],
  ])('%s is not edited', (_title, more, why) => {
    expect(judgeHead(200, { ...JSON_HEAD, ...more })).toEqual({ kind: 'left', why });
  });

  it.each([
    ['a body at the limit', { 'content-length': String(MAX_BYTES) }, undefined],
    ['explicit identity', { 'content-encoding': 'Identity' }, undefined],
    ['gzip', { 'content-encoding': 'GZIP' }, 'gzip'],
    ['x-gzip', { 'content-encoding': 'x-gzip' }, 'gzip'],
    ['br', { 'content-encoding': 'br' }, 'br'],
    ['zstd', { 'content-encoding': 'zstd' }, 'zstd'],
    [
      'a directive similar to no-transform',
      { 'cache-control': 'x-no-transform, no-transformers' },
      undefined,
    ],
  ])('%s may be edited', (_title, more, coding) => {
    expect(judgeHead(200, { ...JSON_HEAD, ...more })).toEqual({ kind: 'editable', coding });
  });
});

describe('digests', () => {
  const BEFORE = Buffer.from('{"hello": "world"}\n');
  const VECTOR = 'sha-256=:RK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDg=:';
  const AFTER = Buffer.from('{"_deprecation":1,"hello": "world"}\n');
  const of = (algorithm: 'sha256' | 'sha512', bytes: Buffer) =>
    createHash(algorithm).update(bytes).digest('base64');

  it('BODY-4: the test vector is the digest of its bytes', () => {
    expect(renewDigest(VECTOR, BEFORE, BEFORE)).toBe(VECTOR);
  });

  it('BODY-4, RFC 9651 §3.2: the last digest of a repeated algorithm counts', () => {
    const wrong = `sha-256=:${of('sha256', AFTER)}:`;
    expect(renewDigest(`${wrong}, ${VECTOR}`, BEFORE, AFTER)).toBe(`sha-256=:${of('sha256', AFTER)}:`);
    expect(renewDigest(`${VECTOR}, ${wrong}`, BEFORE, AFTER)).toBe('mismatch');
  });

  it('BODY-4: are renewed for each known algorithm', () => {
    const field = `${VECTOR};x="a", md5=:AAAA:, sha-512=:${of('sha512', BEFORE)}:`;
    expect(renewDigest(field, BEFORE, AFTER)).toBe(
      `sha-256=:${of('sha256', AFTER)}:, sha-512=:${of('sha512', AFTER)}:`,
    );
  });

  it('BODY-4: are dropped if no algorithm is known', () => {
    expect(renewDigest('unixsum=:AAAA:, md5=:AAAA:, sha-256=nonsense', BEFORE, AFTER)).toBeUndefined();
  });

  it('BODY-4: are not renewed if they were wrong before', () => {
    expect(renewDigest(VECTOR, AFTER, AFTER)).toBe('mismatch');
  });
});
