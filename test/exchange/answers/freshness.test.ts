// Lifetimes of responses: limited to the remaining time, otherwise unchanged byte for byte.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AnswerHeaders, HeaderLines } from '../../../gateway/exchange/answer-headers.ts';
import { clampFreshness, clampLifetimes, longestReuse } from '../../../gateway/exchange/answers/freshness.ts';
import { createExchange } from '../../../gateway/exchange/exchange.ts';
import { RecordFields } from '../../../gateway/exchange/request-view.ts';
import { createBrownoutCalendar } from '../../../gateway/policy/lifecycle/brownout-calendar.ts';
import type { Pause } from '../../../gateway/policy/lifecycle/override.ts';
import { deprecatedFacts, NOW, plan, view, withFacts } from '../../support/exchange-samples.ts';
import { quietPorts } from '../../support/quiet-ports.ts';
import { threadMs } from '../../support/thread-time.ts';

describe('lifetimes', () => {
  it.each([
    ['max-age=3600', 'max-age=60'],
    ['max-age=60', 'max-age=60'],
    ['max-age=59', 'max-age=59'],
    ['max-age=0, no-store', 'max-age=0, no-store'],
    ['Public,MAX-AGE=3600,S-MaxAge=61', 'Public,MAX-AGE=60,S-MaxAge=60'],
    ['max-age="3600"', 'max-age=60'],
    ['max-age=3600, max-age=7200', 'max-age=60, max-age=60'],
    ['private="max-age=3600", max-age=3600', 'private="max-age=60", max-age=60'],
    ['ext="a\\", max-age=3600", max-age=5', 'ext="a\\", max-age=60", max-age=5'],
    ['x-max-age=3600', 'x-max-age=60'],
    ['ext="a, max-age=3600 , b"', 'ext="a, max-age=60 , b"'],
    ['max-age=+3600', 'max-age=60'],
    ['max-age=soon', 'max-age=soon'],
    ['max-age=99999999999999999999', 'max-age=60'],
    ['max-age=20, stale-while-revalidate=3600', 'max-age=20, stale-while-revalidate=40'],
    ['max-age=90, stale-if-error=30', 'max-age=60, stale-if-error=0'],
    ['no-cache', 'no-cache'],
    ['ext="without an end, max-age=3600', 'ext="without an end, max-age=60'],
    ['', ''],
  ])('CACHE-6: with 60 seconds left, %s becomes %s', (written, expected) => {
    expect(clampLifetimes(written, 60)).toBe(expected);
  });

  it.each([
    ['max-age=999999, stale-if-error=9999999', 10_000_000, 'max-age=999999, stale-if-error=9000001'],
    ['max-age=5000001+5000000', 10_000_000, 'max-age=5000001'],
    ['max-age=999999+999999', 10_000_000, 'max-age=999999+999999'],
    ['max-age=10000001', 10_000_000, 'max-age=10000000'],
    ['max-age=5, s-maxage=9', 0, 'max-age=0, s-maxage=0'],
  ])('CACHE-6: %s with %d seconds left becomes %s', (written, seconds, expected) => {
    expect(clampLifetimes(written, seconds)).toBe(expected);
  });

  it('are read in linear time', () => {
    const quotes = '\\"'.repeat(7_000);
    const stale = 'max-age=9, stale-if-error=9, '.repeat(500);
    const blanks = ['max-age', 'max-age=', 'max-age="9'].map((text) => `${text}${' '.repeat(15_000)}`);
    const before = threadMs();
    for (const text of [quotes, stale, stale + quotes, ...blanks]) clampLifetimes(text, 5);
    expect(threadMs() - before).toBeLessThan(1_000);
  });

  it('CACHE-6: never grow', () => {
    const directive = fc.tuple(fc.constantFrom('max-age', 's-maxage', 'stale-if-error', 'x'), fc.nat());
    fc.assert(
      fc.property(fc.array(directive, { maxLength: 5 }), fc.nat(), (directives, seconds) => {
        const text = directives.map(([name, value]) => `${name}=${value}`).join(', ');
        const after = clampLifetimes(text, seconds).split(', ');
        directives.forEach(([name, value], index) => {
          const left = Number(after[index]?.split('=')[1]);
          expect(left).toBeLessThanOrEqual(name === 'x' ? value : Math.min(value, seconds));
        });
      }),
    );
  });
});

describe('the fields of a response', () => {
  const DATE = 'Thu, 19 Nov 2026 12:00:00 GMT';

  function clamped(headers: AnswerHeaders, seconds = 60): AnswerHeaders {
    const lines = new HeaderLines(headers);
    clampFreshness(lines, seconds, NOW);
    return lines.record();
  }

  it.each([
    ['Thu, 19 Nov 2026 13:00:00 GMT', DATE, 'Thu, 19 Nov 2026 12:01:00 GMT'],
    ['Thu, 19 Nov 2026 12:00:30 GMT', DATE, 'Thu, 19 Nov 2026 12:00:30 GMT'],
    ['Thu, 01 Jan 1970 00:00:00 GMT', DATE, 'Thu, 01 Jan 1970 00:00:00 GMT'],
    ['Sat, 21 Nov 2026 00:00:00 GMT', undefined, 'Fri, 20 Nov 2026 00:01:00 GMT'],
    ['Sat, 21 Nov 2026 00:00:00 GMT', 'yesterday', 'Fri, 20 Nov 2026 00:01:00 GMT'],
    // A cache that uses its own clock would keep the response a day longer.
    ['Sun, 20 Dec 2026 00:00:00 GMT', 'Sat, 21 Nov 2026 00:00:00 GMT', 'Fri, 20 Nov 2026 00:01:00 GMT'],
    // Caches read other zones and two-digit years differently.
    ['Sat, 21 Nov 2026 00:00:00 CET', DATE, '0'],
    ['Sat, 21 Nov 2026 00:00:00', DATE, '0'],
    ['Sat, 21 Nov 2026 00:00:00 GMT, Sun, 22 Nov 2026 00:00:00 GMT', DATE, '0'],
    ['Saturday, 21-Nov-26 00:00:00 GMT', DATE, 'Thu, 19 Nov 2026 12:01:00 GMT'],
    ['Saturday, 21-Nov-65 00:00:00 GMT', DATE, 'Sun, 21 Nov 1965 00:00:00 GMT'],
    // Blanks around a value are not part of it.
    ['Sat, 21 Nov 2026 00:00:00 GMT\t', ` ${DATE} `, 'Thu, 19 Nov 2026 12:01:00 GMT'],
    ['never', DATE, '0'],
  ])('CACHE-6: Expires %s with Date %s becomes %s', (expires, date, expected) => {
    expect(clamped({ expires, date }).expires).toBe(expected);
  });

  it('CACHE-6: repeated lines are joined, and the field for CDNs is limited too', () => {
    expect(
      clamped({ 'cache-control': ['public', 'max-age=600'], 'cdn-cache-control': 'max-age=600' }),
    ).toEqual({ 'cache-control': 'public, max-age=60', 'cdn-cache-control': 'max-age=60' });
  });

  it('CACHE-6: fields for one CDN and for surrogates are limited, and a second number is stale use', () => {
    const fields = (lifetime: string) => ({
      'acme-cdn-cache-control': lifetime,
      'surrogate-control': `content="ESI/1.0", ${lifetime}`,
    });
    expect(clamped(fields('max-age=600'))).toEqual(fields('max-age=60'));
    expect(clamped(fields('max-age=600+600'))).toEqual(fields('max-age=60'));
    expect(clamped(fields('max-age=30+600'))).toEqual(fields('max-age=30'));
    expect(clamped(fields('max-age=30+30'))).toEqual(fields('max-age=30+30'));
  });

  it.each([
    ['acme-cache-control', 'max-age=600', 'max-age=60'],
    ['edge-control', '!no-store, max-age=1d, cache-maxage=2h', '!no-store, max-age=60, cache-maxage=60'],
    ['edge-control', 'max-age=99999999999999999999d', 'max-age=60'],
    ['edge-control', 'max-age=30s, downstream-ttl=1M, dca=a1d', 'max-age=30, downstream-ttl=60, dca=a1d'],
  ])('CACHE-6: older vendor fields are limited: %s: %s becomes %s', (name, written, expected) => {
    expect(clamped({ [name]: written })).toEqual({ [name]: expected });
  });

  it.each<[what: string, fields: AnswerHeaders]>([
    ['the lifetime for nginx', { 'x-accel-expires': '40' }],
    ['the date for nginx', { 'x-accel-expires': `@${NOW / 1000 + 40}` }],
    ['the lifetime for surrogates', { 'surrogate-control': 'max-age=40' }],
    ['the lifetime for one CDN', { 'acme-cdn-cache-control': 'max-age=40' }],
  ])('CACHE-6: stale use gets only the time after %s, because a cache may add both', (_what, fields) => {
    const { 'cache-control': after } = clamped({
      ...fields,
      'cache-control': 'max-age=1, stale-while-revalidate=50',
    });
    expect(after).toBe('max-age=1, stale-while-revalidate=20');
  });

  it.each([
    ['3600', '60'],
    ['3600 ', '60'],
    [`\t@${NOW / 1000 + 3600}`, `@${NOW / 1000 + 60}`],
    ['60', '60'],
    ['0', '0'],
    ['99999999999999999999', '60'],
    [`@${NOW / 1000 + 3600}`, `@${NOW / 1000 + 60}`],
    [`@${NOW / 1000 + 30}`, `@${NOW / 1000 + 30}`],
    ['@1', '@1'],
    // nginx ignores values that are not numbers.
    ['-1', '-1'],
    ['soon', 'soon'],
    ['@', '@'],
  ])('CACHE-6: X-Accel-Expires %s, which nginx reads first, becomes %s', (written, expected) => {
    expect(clamped({ 'x-accel-expires': written })).toEqual({ 'x-accel-expires': expected });
    expect(clamped({ 'x-accel-expires': [written, '5'] })['x-accel-expires']).toEqual([expected, '5']);
  });

  it.each([
    [10_000_000, { 'cache-control': 'public, max-age=60, stale-if-error=5' }, {}],
    [10_000_000, { 'cache-control': 'public, max-age = 60' }, { 'cache-control': 'public, max-age=60' }],
    [10_000_000, { 'cache-control': 'stale-if-error="5"' }, { 'cache-control': 'stale-if-error=5' }],
    [60, { 'cache-control': 'public' }, { 'cache-control': 'public, max-age=60' }],
    // Caches that use Date compute a longer heuristic lifetime than the gateway.
    [
      100_000,
      { date: 'Sun, 29 Nov 2026 12:00:00 GMT', 'last-modified': 'Tue, 10 Nov 2026 12:00:00 GMT' },
      { 'cache-control': 'max-age=100000' },
    ],
  ])(
    'CACHE-6: with %d seconds left, the response to GET with %j changes by %j',
    (seconds, fields, changes) => {
      const lines = new HeaderLines(fields);
      clampFreshness(lines, seconds, NOW, { status: 200, method: 'GET', headers: new RecordFields() });
      expect(lines.record()).toEqual({ ...fields, ...changes });
    },
  );

  it('CACHE-6: a response without a lifetime gets none', () => {
    expect(clamped({ 'last-modified': DATE })).toEqual({ 'last-modified': DATE });
  });

  it('are unchanged if no change is ahead', () => {
    const headers = { 'cache-control': ['max-age=600', 'public'], expires: DATE };
    expect(clamped({ ...headers }, Number.POSITIVE_INFINITY)).toEqual(headers);
  });
});

describe('the remaining time', () => {
  it('is whole seconds to the end of the phase', () => {
    const facts = deprecatedFacts();
    const { phase } = facts.decision;
    if (phase === undefined) throw new Error('the sample has a phase');
    expect(longestReuse(facts)).toBe((phase.until - NOW) / 1000);
    expect(longestReuse(withFacts(facts, { phase: { ...phase, until: NOW + 1999 } }))).toBe(1);
  });

  it.each([
    ['at once', 0, 9],
    ['after six seconds', 6_000, 3],
    ['after the change', 12_000, 0],
    ['by a clock that was set back', -60_000, 9],
  ])('CACHE-6: counts from the response, for a service that answers %s', (_when, delay, left) => {
    let now = NOW;
    const exchange = createExchange(
      quietPorts(
        () => plan([]),
        () => now,
      ),
    );
    const sample = deprecatedFacts();
    const { phase } = sample.decision;
    if (phase === undefined) throw new Error('the sample has a phase');
    const facts = withFacts(sample, { phase: { ...phase, until: NOW + 9_000 } });
    now += delay;
    const headers = new HeaderLines({ 'cache-control': 'max-age=86400', 'x-accel-expires': '86400' });
    exchange.decorate(200, headers, facts, view());
    expect(headers.record()).toMatchObject({
      'cache-control': `max-age=${left}`,
      'x-accel-expires': String(left),
    });
  });

  it('CACHE-6: is at most what the API allows for a deprecated version', () => {
    const facts = deprecatedFacts();
    const { api, phase } = facts.decision;
    if (api === undefined || phase === undefined) throw new Error('the sample has an API and a phase');
    const brief = withFacts(facts, { api: { ...api, deprecatedMaxAge: 300 } });
    expect(longestReuse(brief)).toBe(300);
    expect(longestReuse(withFacts(brief, { phase: { ...phase, until: NOW + 9_000 } }))).toBe(9);
    expect(longestReuse(withFacts(brief, { phase: { ...phase, stage: 'active' } }))).toBe(
      longestReuse(facts),
    );
  });

  it('CACHE-6: ends at the start or end of a pause of this version', () => {
    const pause = (from: number, until: number, label?: string): Pause => ({
      kind: 'pause',
      id: `${from}`,
      api: 'orders',
      label,
      author: 'alice',
      reason: 'incident',
      from,
      until,
    });
    const left = (...overrides: Pause[]) => longestReuse(deprecatedFacts({ overrides }));
    expect(left(pause(NOW - 1, NOW + 90_000))).toBe(90);
    expect(left(pause(NOW - 1, NOW + 90_000), pause(NOW + 30_000, NOW + 60_000, 'v1'))).toBe(30);
    expect(left(pause(NOW - 2, NOW), pause(NOW + 30_000, NOW + 60_000, 'v2'))).toBe(left());
  });

  it('CACHE-6: ends at the start or end of a brownout', () => {
    const facts = deprecatedFacts();
    const { version } = facts.decision;
    if (version === undefined) throw new Error('the sample has a version');
    const rest = { rule: 0, announced: 0, status: 410, share: undefined, message: undefined } as const;
    const left = (from: number, until: number) => {
      const brownouts = createBrownoutCalendar([{ from: NOW + from, until: NOW + until, ...rest }]);
      return longestReuse(withFacts(facts, { version: { ...version, brownouts } }));
    };
    expect([left(30_000, 60_000), left(0, 45_000), left(-2, -1)]).toEqual([30, 45, longestReuse(facts)]);
  });

  it('CACHE-6: ends when a linked version changes or another is released', () => {
    const facts = deprecatedFacts();
    const { api, linked, version } = facts.decision;
    if (api === undefined || version === undefined) throw new Error('the sample has an API and a version');
    expect(longestReuse(withFacts(facts, { linked: { ...linked, until: NOW + 90_000 } }))).toBe(90);
    expect(longestReuse(withFacts(facts, { api: { ...api, releases: [NOW - 1, NOW + 30_999] } }))).toBe(30);
    const schedule = { ...version.schedule, forgotten: NOW + 5_000 };
    expect(longestReuse(withFacts(facts, { version: { ...version, schedule } }))).toBe(5);
    expect(
      longestReuse(withFacts(facts, { version: { ...version, schedule: { ...schedule, forgotten: NOW } } })),
    ).toBe(longestReuse(facts));
  });

  it('is infinite before a version is known', () => {
    expect(longestReuse(deprecatedFacts({ phase: undefined }))).toBe(Number.POSITIVE_INFINITY);
  });
});
