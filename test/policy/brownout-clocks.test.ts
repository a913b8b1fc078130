// Brownout windows by cron over a year, across clock changes.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createBrownoutCalendar } from '../../gateway/policy/lifecycle/brownout-calendar.ts';
import type { BrownoutWindow } from '../../gateway/policy/lifecycle/brownout-rule.ts';
import { begins, DAY, day, spell, windowsOf, YEAR } from './brownout-times.ts';

const daily = (zone: string) => windowsOf([{ cron: '30 2 * * *', zone, for: '45m' }]);

const hourly = (zone: string, from: string, until: string) =>
  windowsOf([{ cron: '30 * * * *', zone, for: '5m', from, until }]);

const on = (windows: readonly BrownoutWindow[], date: string) =>
  begins(windows).filter((text) => text.startsWith(date));

describe.each(['UTC', 'Europe/Berlin', 'America/New_York'])('windows at 02:30 in %s over a year', (zone) => {
  const windows = daily(zone);
  const calendar = createBrownoutCalendar(windows);

  it('one window opens per day', () => {
    expect(windows.length).toBe(365);
    expect(new Set(windows.map(({ from, until }) => until - from))).toEqual(new Set([45 * 60_000]));
  });

  it('each window begins and ends in its second', () => {
    for (const window of windows) {
      const { from, until } = window;
      const around = [from - 1000, from - 1, from, from + 1000, until - 1000, until - 1, until, until + 1000];
      expect(around.map((now) => calendar.at(now) === window)).toEqual([
        ...[false, false, true, true],
        ...[true, true, false, false],
      ]);
    }
  });

  it('each window begins at the first valid local time at or after 02:30', () => {
    for (const { from } of windows) {
      const local = Temporal.Instant.fromEpochMilliseconds(from).toZonedDateTimeISO(zone);
      const expected = local.toPlainDate().toZonedDateTime({ timeZone: zone, plainTime: '02:30' });
      // If the clock change skips 02:30, the local time is 03:00 at that moment.
      const skipped = expected.hour !== 2;
      expect(local.toPlainTime().toString()).toBe(skipped ? '03:00:00' : '02:30:00');
    }
  });

  it('at random instants, in any order, the calendar agrees with the list', () => {
    const instant = fc.integer({ min: YEAR.deprecated - DAY, max: YEAR.sunset + DAY });
    fc.assert(
      fc.property(fc.array(instant, { minLength: 1, maxLength: 20 }), (instants) => {
        for (const now of instants) {
          expect(calendar.at(now)).toBe(windows.find(({ from, until }) => from <= now && now < until));
          const next = windows.flatMap(({ from, until }) => [from, until]).find((change) => change > now);
          expect(calendar.nextChange(now)).toBe(next ?? Number.POSITIVE_INFINITY);
        }
      }),
    );
  });

  it('the schedule of a period contains the windows that overlap it', () => {
    const [first, second, third] = windows;
    if (first === undefined || second === undefined || third === undefined) throw new Error('no windows');
    expect(calendar.windows(first.until - 1, third.from)).toEqual([first, second]);
    expect(calendar.windows(first.until, second.from)).toEqual([]);
    expect(calendar.windows(-Infinity, Infinity)).toEqual(windows);
  });
});

describe('when the clocks change', () => {
  it('a skipped 02:30 begins right after the clock change', () => {
    expect(on(daily('Europe/Berlin'), '2027-03-28')).toEqual(['2027-03-28T01:00:00Z']);
    expect(on(daily('America/New_York'), '2027-03-14')).toEqual(['2027-03-14T07:00:00Z']);
  });

  it('a repeated 02:30 begins once, the first time', () => {
    expect(on(daily('Europe/Berlin'), '2027-10-31')).toEqual(['2027-10-31T00:30:00Z']);
    const repeated = windowsOf([{ cron: '30 1 * * *', zone: 'America/New_York', for: '5m' }]);
    expect(on(repeated, '2027-11-07')).toEqual(['2027-11-07T05:30:00Z']);
  });

  it('a list of hours equals its single hours', () => {
    const twice = windowsOf([{ cron: '30 2,14 * * *', zone: 'Europe/Berlin', for: '5m' }], {
      deprecated: day('2027-03-28'),
      sunset: day('2027-03-29'),
    });
    expect(begins(twice)).toEqual(['2027-03-28T01:00:00Z', '2027-03-28T12:30:00Z']);
  });

  it('an hourly rule fires every elapsed hour, on days of 23 and 25 hours too', () => {
    expect(hourly('Europe/Berlin', '2027-03-27T23:00:00Z', '2027-03-28T22:00:00Z')).toHaveLength(23);
    expect(hourly('Europe/Berlin', '2027-10-30T22:00:00Z', '2027-10-31T23:00:00Z')).toHaveLength(25);
  });

  it('a window keeps its length in real time across a clock change', () => {
    const [night] = windowsOf([
      {
        cron: '0 1 * * *',
        zone: 'Europe/Berlin',
        for: '4h',
        from: '2027-03-28T00:00:00Z',
        until: '2027-03-29',
      },
    ]);
    expect(night && [spell(night.from), spell(night.until)]).toEqual([
      '2027-03-28T00:00:00Z',
      '2027-03-28T04:00:00Z',
    ]);
  });
});
