// Entity tags and conditions under a notice. Only the upstream compares tags (C304-1).
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RecordFields } from '../../gateway/exchange/request-view.ts';
import {
  mapConditions,
  noticedTag,
  readTags,
  upstreamTag,
} from '../../gateway/policy/body-notice/conditions.ts';
import { createNotice } from '../../gateway/policy/body-notice/notice.ts';
import { threadMs } from '../support/thread-time.ts';

const NOTICE = createNotice({
  sunset: Date.UTC(2026, 5, 1),
  replacement: undefined,
  guide: undefined,
  reason: undefined,
});
const NOW = NOTICE.suffix;
const OLD = '~d00000000';

const opaque = fc.string({
  unit: fc
    .integer({ min: 0x21, max: 0xff })
    .filter((code) => code !== 0x22 && code !== 0x7f)
    .map((code) => String.fromCharCode(code)),
  maxLength: 12,
});
const tags = fc.tuple(fc.constantFrom('', 'W/'), opaque).map(([weak, text]) => `${weak}"${text}"`);

describe('an entity tag', () => {
  it.each([
    ['"abc"', `"abc${NOW}"`],
    ['W/"abc"', `W/"abc${NOW}"`],
    ['""', `"${NOW}"`],
    ['"a,b"', `"a,b${NOW}"`],
  ])('BODY-5: %s becomes %s, still strong or weak', (tag, noticed) => {
    expect(noticedTag(tag, NOW)).toBe(noticed);
  });

  it.each(['abc', 'w/"abc"', '"abc', '"a"b"', '"a", "b"', '"a b"', '', '*'])('%s is not one', (text) => {
    expect(noticedTag(text, NOW)).toBeUndefined();
  });

  it("BODY-5: maps back to the upstream's tag", () => {
    fc.assert(
      fc.property(tags, fc.constantFrom('keep' as const, 'drop' as const), (tag, plain) => {
        const noticed = noticedTag(tag, NOW) ?? '';
        expect(noticed.startsWith('W/')).toBe(tag.startsWith('W/'));
        expect(upstreamTag(noticed, NOW, plain)).toBe(tag);
        expect(readTags(noticed)).toEqual([noticed]);
      }),
    );
  });

  it('BODY-5: with the suffix of another notice matches nothing', () => {
    fc.assert(
      fc.property(tags, fc.constantFrom('keep' as const, 'drop' as const), (tag, plain) => {
        expect(upstreamTag(noticedTag(tag, OLD) ?? '', NOW, plain)).toBeUndefined();
      }),
    );
  });
});

describe('a list of entity tags', () => {
  it.each([
    ['"a"', ['"a"']],
    ['"a","b"', ['"a"', '"b"']],
    [' "a" ,\tW/"b" ', ['"a"', 'W/"b"']],
    [',, "a,b" ,,"c",', ['"a,b"', '"c"']],
  ])('RFC 9110 §5.6.1: %s', (list, read) => expect(readTags(list)).toEqual(read));

  it.each(['', ' , ', '*', 'a', '"a" "b"', '"a", b', '"a', '*, "a"'])('%s is not one', (list) => {
    expect(readTags(list)).toBeUndefined();
  });

  it('is parsed in linear time, valid or not', () => {
    const blanks = ' '.repeat(60_000);
    const before = threadMs();
    for (const end of ['a', '"', 'W/', '"a" b']) expect(readTags(`"a",${blanks}${end}`)).toBeUndefined();
    expect(threadMs() - before).toBeLessThan(1_000);
  });

  it('keeps all tags in order', () => {
    fc.assert(
      fc.property(fc.array(tags, { minLength: 1 }), (all) => {
        expect(readTags(all.join(', '))).toEqual(all);
      }),
    );
  });
});

/** The upstream's fields in one line. `412` if the upstream is not called. */
function upstreamSees(headers: Record<string, string>, reads: boolean): string {
  const mapped = mapConditions(new RecordFields(headers), NOTICE, reads);
  if ('reason' in mapped) return mapped.reason === 'precondition_failed' ? '412' : mapped.reason;
  return Object.entries(headers)
    .map(([name, value]) => [name, Object.hasOwn(mapped.replace, name) ? mapped.replace[name] : value])
    .flatMap(([name, value]) => (value === undefined ? [] : `${name}: ${value}`))
    .join('\n');
}

describe.each([
  ['reading', true],
  ['writing', false],
])('conditions of %s', (_what, reads) => {
  it.each([
    ["today's tag", `"a${NOW}"`, '"a"'],
    ['a weak one', `W/"a${NOW}"`, 'W/"a"'],
    ['several', `"a${NOW}", "b${OLD}", "c${NOW}"`, '"a", "c"'],
    ['one without a suffix', `"a"`, '"a"'],
    ['a stale tag after one without a suffix', `"a", "b${OLD}"`, '"a"'],
    ['any', '*', '*'],
    ['no list of tags', `a${NOW}`, `a${NOW}`],
  ])('BODY-5: If-Match with %s', (_title, sent, seen) => {
    expect(upstreamSees({ 'if-match': sent }, reads)).toBe(`if-match: ${seen}`);
  });

  it.each([`"a${OLD}"`, `"a${OLD}", W/"b${OLD}"`])(
    'BODY-5: If-Match with stale tags alone fails: %s',
    (sent) => {
      expect(upstreamSees({ 'if-match': sent }, reads)).toBe('412');
    },
  );

  it.each([
    ["today's tag", `"a${NOW}"`, '"a"'],
    ['a weak one', `W/"a${NOW}"`, 'W/"a"'],
    ['several', `"a${NOW}", "b${OLD}", "c${NOW}"`, '"a", "c"'],
    ['any', '*', '*'],
    ['stale tags alone', `"a${OLD}", "b${OLD}"`, undefined],
    ['one without a suffix', `"a"`, reads ? undefined : '"a"'],
    ['one with a suffix and one without', `"a${NOW}", "b"`, reads ? '"a"' : '"a", "b"'],
    ['no list of tags', 'a', reads ? undefined : 'a'],
  ])('BODY-5: If-None-Match with %s', (_title, sent, seen) => {
    const line = seen === undefined ? '' : `if-none-match: ${seen}`;
    expect(upstreamSees({ 'if-none-match': sent }, reads)).toBe(line);
  });

  it('C304-1: date conditions of writes go to the upstream unchanged', () => {
    const headers = { 'if-unmodified-since': 'Mon, 01 Jun 2026 00:00:00 GMT' };
    expect(upstreamSees(headers, reads)).toBe('if-unmodified-since: Mon, 01 Jun 2026 00:00:00 GMT');
  });

  it('RNG-1, BODY-5: a read loses range and date conditions, which could hide the notice', () => {
    const headers = {
      range: 'bytes=0-1',
      'if-range': '"a"',
      'if-modified-since': 'Mon, 01 Jun 2026 00:00:00 GMT',
    };
    expect(upstreamSees(headers, reads) === '').toBe(reads);
  });
});

it('BODY-5: no tag of a read lets the upstream confirm a body without the notice', () => {
  fc.assert(
    fc.property(fc.array(tags, { minLength: 1 }), fc.array(tags), (plain, noticed) => {
      const held = noticed.map((tag) => noticedTag(tag, NOW) ?? '');
      const mapped = mapConditions(
        new RecordFields({ 'if-none-match': [...plain, ...held].join(', ') }),
        NOTICE,
        true,
      );
      if ('reason' in mapped) throw new Error('If-None-Match alone was refused');
      const seen = mapped.replace['if-none-match'];
      expect(Object.hasOwn(mapped.replace, 'if-none-match')).toBe(true);
      expect(seen).toBe(noticed.length === 0 ? undefined : noticed.join(', '));
    }),
  );
});
