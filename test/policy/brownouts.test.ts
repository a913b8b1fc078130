// Brownout windows by the clock: dated, by cron across changes of the clocks, in phases; who meets a share of them.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createBrownoutCalendar } from '../../gateway/policy/lifecycle/brownout-calendar.ts';
import { parseCron, parseZone } from '../../gateway/policy/lifecycle/brownout-cron.ts';
import {
  type BrownoutSubject,
  brownOut,
  looksAtCaller,
  meetsBrownout,
} from '../../gateway/policy/lifecycle/brownout-refusal.ts';
import type { BrownoutTimes, BrownoutWindow } from '../../gateway/policy/lifecycle/brownout-rule.ts';
import { brownoutsSection } from '../../gateway/policy/lifecycle/brownout-section.ts';
import { expandBrownouts, MOST_WINDOWS } from '../../gateway/policy/lifecycle/brownout-windows.ts';
import { NO_SUCCESSOR } from '../../gateway/policy/lifecycle/retirement.ts';
import { version } from '../support/exchange-samples.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const at = (text: string) => Temporal.Instant.from(text).epochMilliseconds;
const day = (text: string) => at(`${text}T00:00:00Z`);
const spell = (instant: number) => Temporal.Instant.fromEpochMilliseconds(instant).toString();

const YEAR = { deprecated: day('2027-01-01'), sunset: day('2028-01-01') };

/** Windows of rules as an operator writes them. */
function windowsOf(
  written: readonly Readonly<Record<string, unknown>>[],
  span = YEAR,
): readonly BrownoutWindow[] {
  const rules = brownoutsSection.parse(written.map((rule) => ({ announced: '2026-06-01', ...rule })));
  return expandBrownouts(rules, span);
}

const daily = (zone: string) => windowsOf([{ cron: '30 2 * * *', zone, for: '45m' }]);
const hourly = (zone: string, from: string, until: string) =>
  windowsOf([{ cron: '30 * * * *', zone, for: '5m', from, until }]);
const begins = (windows: readonly BrownoutWindow[]) => windows.map(({ from }) => spell(from));
const on = (windows: readonly BrownoutWindow[], date: string) =>
  begins(windows).filter((text) => text.startsWith(date));

describe.each(['UTC', 'Europe/Berlin', 'America/New_York'])('over a year of 02:30 in %s', (zone) => {
  const windows = daily(zone);
  const calendar = createBrownoutCalendar(windows);

  it('there is one window a day', () => {
    expect(windows.length).toBe(365);
    expect(new Set(windows.map(({ from, until }) => until - from))).toEqual(new Set([45 * 60_000]));
  });

  it('promise 43: each begins and ends in its second', () => {
    for (const window of windows) {
      const { from, until } = window;
      const around = [from - 1000, from - 1, from, from + 1000, until - 1000, until - 1, until, until + 1000];
      expect(around.map((now) => calendar.at(now) === window)).toEqual([
        ...[false, false, true, true],
        ...[true, true, false, false],
      ]);
    }
  });

  it('begins at the first valid time not before 02:30 of the local day', () => {
    for (const { from } of windows) {
      const local = Temporal.Instant.fromEpochMilliseconds(from).toZonedDateTimeISO(zone);
      const expected = local.toPlainDate().toZonedDateTime({ timeZone: zone, plainTime: '02:30' });
      // Where the clocks skip 02:30 they stand at 03:00 when it should have been.
      const skipped = expected.hour !== 2;
      expect(local.toPlainTime().toString()).toBe(skipped ? '03:00:00' : '02:30:00');
    }
  });

  it('at random instants the calendar says what the list says, in whatever order it is asked', () => {
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

  it('the schedule of a stretch holds the windows that have a part in it', () => {
    const [first, second, third] = windows;
    if (first === undefined || second === undefined || third === undefined) throw new Error('no windows');
    expect(calendar.windows(first.until - 1, third.from)).toEqual([first, second]);
    expect(calendar.windows(first.until, second.from)).toEqual([]);
    expect(calendar.windows(-Infinity, Infinity)).toEqual(windows);
  });
});

describe('when the clocks change', () => {
  it('02:30 that is skipped begins when the clocks have gone forward', () => {
    expect(on(daily('Europe/Berlin'), '2027-03-28')).toEqual(['2027-03-28T01:00:00Z']);
    expect(on(daily('America/New_York'), '2027-03-14')).toEqual(['2027-03-14T07:00:00Z']);
  });

  it('02:30 that comes twice begins once, at its first coming', () => {
    expect(on(daily('Europe/Berlin'), '2027-10-31')).toEqual(['2027-10-31T00:30:00Z']);
    const repeated = windowsOf([{ cron: '30 1 * * *', zone: 'America/New_York', for: '5m' }]);
    expect(on(repeated, '2027-11-07')).toEqual(['2027-11-07T05:30:00Z']);
  });

  it('a list of hours behaves as each of its hours', () => {
    const twice = windowsOf([{ cron: '30 2,14 * * *', zone: 'Europe/Berlin', for: '5m' }], {
      deprecated: day('2027-03-28'),
      sunset: day('2027-03-29'),
    });
    expect(begins(twice)).toEqual(['2027-03-28T01:00:00Z', '2027-03-28T12:30:00Z']);
  });

  it('every hour is every hour that passes, on the days of 23 and of 25 hours too', () => {
    expect(hourly('Europe/Berlin', '2027-03-27T23:00:00Z', '2027-03-28T22:00:00Z')).toHaveLength(23);
    expect(hourly('Europe/Berlin', '2027-10-30T22:00:00Z', '2027-10-31T23:00:00Z')).toHaveLength(25);
  });

  it('a window lasts as long as it says in real time across the change', () => {
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

describe('windows', () => {
  it('a dated window is from its first instant to its last, with the offset counted', () => {
    const [byEnd, byLength] = windowsOf([
      { from: '2027-02-01T09:00:00+01:00', until: '2027-02-01T10:00:00+01:00' },
      { from: '2027-03-01', for: '2h' },
    ]);
    expect(byEnd).toMatchObject({ from: at('2027-02-01T08:00:00Z'), until: at('2027-02-01T09:00:00Z') });
    expect(byLength).toMatchObject({ from: day('2027-03-01'), until: day('2027-03-01') + 2 * HOUR });
  });

  it('weekly from a day on, to the sunset', () => {
    const windows = windowsOf([{ cron: '0 14 * * 2', zone: 'UTC', for: '15m', from: '2027-12-10' }]);
    expect(begins(windows)).toEqual(['2027-12-14T14:00:00Z', '2027-12-21T14:00:00Z', '2027-12-28T14:00:00Z']);
  });

  it('a beat at the very first instant counts, one at the very last does not', () => {
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

  it('phases escalate towards the sunset, each until the next takes over', () => {
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

  it('RET-11: no window is open before the deprecation or from the sunset on, whatever is written', () => {
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

  it('a repetition is unrolled no further than it takes to see that there is too much of it', () => {
    expect(windowsOf([{ cron: '* * * * *', zone: 'UTC', for: '30s' }])).toHaveLength(MOST_WINDOWS + 1);
  });

  it('an expression that never strikes has no windows', () => {
    expect(windowsOf([{ cron: '0 0 30 2 *', zone: 'UTC', for: '1h' }])).toEqual([]);
  });
});

describe('notations', () => {
  it.each(['0 14 * * 2', '*/15 9-17 * jan-mar mon,WED', '0 0 L * *', '30 2 * * fri#2'])('cron %s', (text) =>
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
  ])('no cron: "%s"', (text) => expect(parseCron(text)).toBeUndefined());

  it('no text makes reading a cron expression throw', () => {
    const piece = fc.constantFrom('*', '0', '7', '60', '-', ',', '/', '#', 'L', 'W', 'mon', 'jan', ' ', '?');
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 16 }), (pieces) => {
        const text = pieces.join('');
        expect([text, undefined]).toContain(parseCron(text));
      }),
    );
  });

  it.each(['UTC', 'Europe/Berlin', 'America/Argentina/Buenos_Aires'])('zone %s', (zone) =>
    expect(parseZone(zone)).toBe(zone),
  );
  it.each(['', 'Mars/Olympus', '+02:00', 'Europe/../Berlin', 'Europe/Berlin '])('no zone: "%s"', (zone) =>
    expect(parseZone(zone)).toBeUndefined(),
  );
});

describe('who meets a window', () => {
  const subject: BrownoutSubject = { ...version(), exceptions: [] };
  const window: BrownoutWindow = {
    from: day('2027-02-01'),
    until: day('2027-02-01') + HOUR,
    rule: 0,
    announced: day('2027-01-01'),
    status: 410,
    share: undefined,
    message: undefined,
  };
  const consumer = fc.record({
    consumer: fc.option(fc.record({ id: fc.string({ minLength: 1 }) }), { nil: undefined }),
    clientAddress: fc.ipV4(),
  });
  const share = fc.integer({ min: 1, max: 99 }).map((percent) => percent / 100);

  it('everyone, when no share is set', () => {
    fc.assert(
      fc.property(consumer, (caller) => {
        expect(meetsBrownout(window, subject, window.from, caller)).toBe(true);
      }),
    );
    expect(looksAtCaller(window, subject, window.from)).toBe(false);
  });

  it('the same callers all through a window, and more of them the larger the share', () => {
    const instant = fc.integer({ min: window.from, max: window.until - 1 });
    fc.assert(
      fc.property(consumer, share, share, instant, instant, (caller, a, b, one, other) => {
        const small = { ...window, share: Math.min(a, b) };
        const large = { ...window, share: Math.max(a, b) };
        const met = meetsBrownout(small, subject, one, caller);
        expect(meetsBrownout(small, subject, other, caller)).toBe(met);
        if (met) expect(meetsBrownout(large, subject, one, caller)).toBe(true);
        expect(looksAtCaller(small, subject, one)).toBe(true);
      }),
    );
  });

  it.each<[string, number, Partial<BrownoutSubject>]>([
    ['in the next window', DAY, {}],
    ['in another version', 0, { label: 'v0' }],
    ['in another API', 0, { api: 'payments' }],
  ])('about as many as the share says, and other ones %s', (_where, shifted, other) => {
    const met = (from: number, met: BrownoutSubject) =>
      Array.from({ length: 2000 }, (_, index) =>
        meetsBrownout({ ...window, from, share: 0.25 }, met, window.from, {
          consumer: { id: `consumer-${index}` },
          clientAddress: '192.0.2.1',
        }),
      );
    const first = met(window.from, subject);
    const second = met(window.from + shifted, { ...subject, ...other });
    expect(first.filter(Boolean).length / 2000).toBeCloseTo(0.25, 1);
    expect(first.filter((each, index) => each && second[index]).length).toBeLessThan(250);
  });

  it('a consumer behind another address is the same caller; without a consumer the address is', () => {
    const half = { ...window, share: 0.5 };
    const meets = (id: string | undefined, clientAddress: string) =>
      meetsBrownout(half, subject, window.from, {
        consumer: id === undefined ? undefined : { id },
        clientAddress,
      });
    const addresses = Array.from({ length: 50 }, (_, index) => `192.0.2.${index}`);
    expect(new Set(addresses.map((address) => meets('acme', address))).size).toBe(1);
    expect(new Set(addresses.map((address) => meets(undefined, address))).size).toBe(2);
  });

  it('not a consumer with leave from brownouts, as long as it runs', () => {
    const exception = {
      consumer: 'acme',
      until: window.from + 1000,
      from: ['brownouts'],
      why: 'contract',
      by: 'team',
      phases: [],
    } as const;
    const excepted: BrownoutSubject = { ...subject, exceptions: [exception] };
    const caller = { consumer: { id: 'acme' }, clientAddress: '192.0.2.1' };
    expect(meetsBrownout(window, excepted, window.from + 999, caller)).toBe(false);
    expect(meetsBrownout(window, excepted, window.from + 1000, caller)).toBe(true);
    expect(meetsBrownout(window, excepted, window.from, { ...caller, consumer: { id: 'beta' } })).toBe(true);
    expect(looksAtCaller(window, excepted, window.from + 999)).toBe(true);
    expect(looksAtCaller(window, excepted, window.from + 1000)).toBe(false);
  });

  it('RL-1: whoever waits as long as told comes back when the window is over', () => {
    const instant = fc.integer({ min: window.from, max: window.until - 1 });
    fc.assert(
      fc.property(instant, (now) => {
        const refusal = brownOut(subject, window, now, NO_SUCCESSOR);
        if (refusal.reason !== 'brownout') throw new Error(refusal.reason);
        const back = now + refusal.retryAfterSeconds * 1000;
        expect(back >= window.until && back - window.until < 1000).toBe(true);
      }),
    );
  });
});
