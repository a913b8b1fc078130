// Tests the notations of times, rates, names and dates.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  dayOf,
  idNamed,
  lineOfText,
  parseDuration,
  parseIdPrefix,
  parseInstant,
  parseMail,
  parseRate,
} from '../../gateway/policy/notation.ts';
import { parseLowering } from '../../gateway/policy/rate-limit/lowering.ts';

describe('durations and rates', () => {
  it.each([
    ['250ms', 250],
    ['3s', 3_000],
    ['5m', 300_000],
    ['2h', 7_200_000],
    ['30d', 2_592_000_000],
  ])('%s is %d ms', (text, ms) => expect(parseDuration(text)).toBe(ms));

  it.each(['', '3', '0s', '-3s', '1.5s', '3 s', '3S', '3w', '999999999d', '03s'])(
    '%j is not a duration',
    (text) => expect(parseDuration(text)).toBeUndefined(),
  );

  it('a rate is units per window', () =>
    expect(parseRate('600/1m')).toEqual({ units: 600, windowMs: 60_000 }));
  it.each(['600', '0/1m', '600/m', '600/0s', '600/1m/1m', '1e3/1m'])('%j is not a rate', (text) =>
    expect(parseRate(text)).toBeUndefined(),
  );

  it('RL-11: a deprecated limit is a share or a rate', () => {
    expect(parseLowering('50%')).toEqual({ kind: 'factor', factor: 0.5 });
    expect(parseLowering('60/1m')).toEqual({ kind: 'absolute', units: 60, windowMs: 60_000 });
    for (const text of ['0%', '101%', '-5%', '50', '5.5%']) expect(parseLowering(text)).toBeUndefined();
  });
});

describe('names and lines', () => {
  it.each(['api@acme.example', 'jürgen@bücher.example', '支払い@例え.jp'])('%j is a mail address', (text) =>
    expect(parseMail(text)).toBe(text),
  );
  it.each([
    ...['nobody', 'a b@acme.example', '<a@acme.example>', 'a@b@c'],
    ...[
      'a\u202E@acme.example',
      'a@\u2066acme.example',
      '\u200Fa@acme.example',
      'a\u061C@x',
      'a\u200B@x',
      'a\0@x',
    ],
  ])('%j is not a mail address', (text) => expect(parseMail(text)).toBeUndefined());

  it.each([...'\u202A\u202B\u202C\u202D\u202E\u2066\u2067\u2068\u2069\u2028\u0085'])(
    'a line with %j would not be displayed as written',
    (control) => expect(lineOfText('x', 'such a line').safeParse(`a${control}b`).success).toBe(false),
  );
  it.each(['עברית', 'می‌خواهم', '👩‍💻', 'money amounts become integers'])('%j is a line', (text) =>
    expect(lineOfText('x', 'such a line').parse(text)).toBe(text),
  );

  it('a prefix ends with a character that names of identities cannot have', () => {
    expect(['partner/', 'auth.example.com:', 'off'].map(parseIdPrefix)).toEqual([
      'partner/',
      'auth.example.com:',
      '',
    ]);
    for (const text of ['', 'partner', '/', 'a b/', 'a/b/', `${'x'.repeat(64)}/`, 'Off/\n'])
      expect(parseIdPrefix(text), text).toBeUndefined();
  });

  it.each<[string, string, readonly string[], string | undefined]>([
    ['acme', '', [], 'acme'],
    ['acme', 'partner/', [], 'partner/acme'],
    ['partner/acme', '', ['partner/'], undefined],
    ['partner/acme', 'other/', ['partner/'], 'other/partner/acme'],
    ['', 'partner/', [], undefined],
    ['a\u202Eb', 'partner/', [], undefined],
    ['x'.repeat(250), 'partner/', [], undefined],
  ])('%j of an identity with the prefix %j beside %j is %j', (name, own, others, id) =>
    expect(idNamed(name, { own, others })).toBe(id),
  );
});

describe('dates', () => {
  it('SUN-2: a date is midnight UTC', () => expect(parseInstant('2027-01-15')).toBe(Date.UTC(2027, 0, 15)));
  it('SUN-5: a full instant has an offset', () =>
    expect(parseInstant('2027-01-15T12:00:00+02:00')).toBe(Date.UTC(2027, 0, 15, 10)));

  it.each([
    '2026-02-30',
    '2027-02-29',
    '2026-13-01',
    '2026-00-10',
    '2026-01-00',
    '2026-1-5',
    '26-01-05',
    '2026-01-15T00:00:00',
    '2026-02-30T00:00:00Z',
    '2026-01-15T24:00:00Z',
    '2026-01-15T00:00:60Z',
    '2026-01-15T00:00:00.5Z',
    '15.01.2026',
    'tomorrow',
    '',
  ])('%j is refused', (text) => expect(parseInstant(text)).toBeUndefined());

  it('every day of the calendar is shown as it was written', () => {
    const day = fc.date({ min: new Date('1970-01-01'), max: new Date('2999-12-31'), noInvalidDate: true });
    fc.assert(
      fc.property(day, (date) => {
        const text = date.toISOString().slice(0, 10);
        expect(dayOf(parseInstant(text) ?? Number.NaN)).toBe(text);
      }),
    );
  });
});
