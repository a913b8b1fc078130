// Brownout windows: dated, repeated, in phases, and their notation.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseCron, parseZone } from '../../gateway/policy/lifecycle/brownout-cron.ts';
import type { BrownoutTimes, BrownoutWindow } from '../../gateway/policy/lifecycle/brownout-rule.ts';
import { expandBrownouts, MAX_WINDOWS } from '../../gateway/policy/lifecycle/brownout-windows.ts';
import { at, begins, DAY, day, HOUR, spell, windowsOf, YEAR } from './brownout-times.ts';

describe('windows', () => {
  it('a dated window covers its instants, offsets applied', () => {
    const [byEnd, byLength] = windowsOf([
      { from: '2027-02-01T09:00:00+01:00', until: '2027-02-01T10:00:00+01:00' },
      { from: '2027-03-01', for: '2h' },
    ]);
    expect(byEnd).toMatchObject({ from: at('2027-02-01T08:00:00Z'), until: at('2027-02-01T09:00:00Z') });
    expect(byLength).toMatchObject({ from: day('2027-03-01'), until: day('2027-03-01') + 2 * HOUR });
  });

  it('a weekly rule repeats from a day to the sunset', () => {
    const windows = windowsOf([{ cron: '0 14 * * 2', zone: 'UTC', for: '15m', from: '2027-12-10' }]);
    expect(begins(windows)).toEqual(['2027-12-14T14:00:00Z', '2027-12-21T14:00:00Z', '2027-12-28T14:00:00Z']);
  });

  it('a window at the first instant counts, one at the last does not', () => {
    const windows = windowsOf([
      {
        cron: '0 14 * * *',
        zone: 'UTC',
        for: '15m',
        from: '2027-02-01T14:00:00Z',
        until: '2027-02-02T14:00:00Z',
      },
    ]);
    expect(begins(windows)).toEqual(['2027-02-01T14:00:00Z']);
  });

  const escalating = [
    { before_sunset: '30d', cron: '0 14 * * 2', zone: 'UTC', for: '1h' },
    { before_sunset: '14d', cron: '0 14 * * 2', zone: 'UTC', for: '4h' },
    { before_sunset: '7d', cron: '0 14 * * 2', zone: 'UTC', for: '8h' },
    { before_sunset: '1d', for: '12h' },
  ];
  const lengths = (windows: readonly BrownoutWindow[]) =>
    windows.map(({ from, until }) => `${spell(from)} ${(until - from) / HOUR}h`);

  it('each phase lasts until the next one begins', () => {
    expect(lengths(windowsOf(escalating))).toEqual([
      '2027-12-07T14:00:00Z 1h',
      '2027-12-14T14:00:00Z 1h',
      '2027-12-21T14:00:00Z 4h',
      '2027-12-28T14:00:00Z 8h',
      '2027-12-31T00:00:00Z 12h',
    ]);
  });

  it('phases move with the sunset', () => {
    const moved = windowsOf(escalating, { ...YEAR, sunset: day('2028-04-01') });
    expect(lengths(moved).at(-1)).toBe('2028-03-31T00:00:00Z 12h');
    expect(moved).toHaveLength(5);
  });

  it('RET-11: no rule opens a window before the deprecation or after the sunset', () => {
    const instant = fc.integer({ min: day('2026-06-01'), max: day('2028-06-01') });
    const lasts = fc.integer({ min: 1, max: 40 * DAY });
    const beat = fc.record({
      cron: fc.constantFrom('0 14 * * 2', '30 2 1 * *', '0 */8 15 * *', '15 3 * 6-8 fri'),
      zone: fc.constantFrom('UTC', 'Europe/Berlin', 'America/New_York'),
      lasts,
    });
    const times: fc.Arbitrary<BrownoutTimes> = fc.oneof(
      fc.record({ kind: fc.constant('dated' as const), from: instant, until: instant }),
      fc.record({
        kind: fc.constant('repeated' as const),
        beat,
        from: fc.option(instant, { nil: undefined }),
        until: fc.option(instant, { nil: undefined }),
      }),
      fc.record({
        kind: fc.constant('phase' as const),
        beforeSunset: fc.integer({ min: 1, max: 500 * DAY }),
        beat: fc.option(beat, { nil: undefined }),
        lasts,
      }),
    );
    fc.assert(
      fc.property(fc.array(times, { maxLength: 4 }), (list) => {
        const answer = { announced: 0, status: 410, share: undefined, message: undefined } as const;
        const windows = expandBrownouts(
          list.map((each) => ({ times: each, ...answer })),
          YEAR,
        );
        let before = -Infinity;
        for (const { from, until } of windows) {
          expect(from >= YEAR.deprecated && until <= YEAR.sunset && from < until).toBe(true);
          expect(from).toBeGreaterThanOrEqual(before);
          before = from;
        }
      }),
      { numRuns: 60 },
    );
  });

  it('a repetition is expanded just far enough to detect an excess', () => {
    expect(windowsOf([{ cron: '* * * * *', zone: 'UTC', for: '30s' }])).toHaveLength(MAX_WINDOWS + 1);
  });

  it('an expression that never fires has no windows', () => {
    expect(windowsOf([{ cron: '0 0 30 2 *', zone: 'UTC', for: '1h' }])).toEqual([]);
  });
});

describe('notations', () => {
  it.each(['0 14 * * 2', '*/15 9-17 * jan-mar mon,WED', '0 0 L * *', '30 2 * * fri#2'])('cron: %s', (text) =>
    expect(parseCron(text)).toBe(text),
  );
  it.each([
    '',
    '0 14 * *',
    '0 14 * * 2 2027',
    '61 * * * *',
    '0 24 * * *',
    '0/5 * * * *',
    '@daily',
    '0 14 ? * *',
    '0 14 * * 9',
    '5-1 * * * *',
    ' 0 14 * * 2',
  ])('not cron: "%s"', (text) => expect(parseCron(text)).toBeUndefined());

  it('parsing a cron expression never throws', () => {
    const piece = fc.constantFrom('*', '0', '7', '60', '-', ',', '/', '#', 'L', 'W', 'mon', 'jan', ' ', '?');
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 16 }), (pieces) => {
        const text = pieces.join('');
        expect([text, undefined]).toContain(parseCron(text));
      }),
    );
  });

  it.each(['UTC', 'Europe/Berlin', 'America/Argentina/Buenos_Aires'])('zone: %s', (zone) =>
    expect(parseZone(zone)).toBe(zone),
  );
  it.each(['', 'Mars/Olympus', '+02:00', 'Europe/../Berlin', 'Europe/Berlin '])('no zone: "%s"', (zone) =>
    expect(parseZone(zone)).toBeUndefined(),
  );
});
