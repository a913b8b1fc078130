// Retirement by usage: the verdict of a rule, the holds of a guard, and their effect on a version.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { assess } from '../../gateway/policy/lifecycle/assess.ts';
import { createBrownoutCalendar } from '../../gateway/policy/lifecycle/brownout-calendar.ts';
import type { Hold } from '../../gateway/policy/lifecycle/override.ts';
import { effectsOf } from '../../gateway/policy/lifecycle/pause-effects.ts';
import { phaseAt } from '../../gateway/policy/lifecycle/phases.ts';
import {
  holdFor,
  judgeRetirement,
  LONGEST_HELD_MS,
  type RetireWhen,
  retireWhenInWords,
  retireWhenSection,
  type UsageSummary,
  usageInWords,
} from '../../gateway/policy/lifecycle/retire-when.ts';
import { DAY, day, HOUR, life, pause, SUNSET, window } from './paused-life.ts';

const RULE: RetireWhen = { consumersBelow: 2, callsBelow: 100, days: 30, onExceed: 'hold' };
const LONG_AGO = SUNSET - 100 * DAY;
const usage = (consumers: number, calls: number, since: number | undefined = LONG_AGO): UsageSummary => ({
  consumers,
  calls,
  days: 30,
  since,
});
const BUSY = { kind: 'exceeded', usage: usage(14, 3_100) } as const;

describe('the remaining usage', () => {
  it.each<[string, Partial<RetireWhen>, UsageSummary | undefined, string]>([
    ['is little enough below every bound', {}, usage(1, 99), 'met'],
    ['is too much at the bound of consumers', {}, usage(2, 0), 'exceeded'],
    ['is too much at the bound of calls', {}, usage(0, 100), 'exceeded'],
    ['ignores the consumers without a bound for them', { consumersBelow: undefined }, usage(50, 99), 'met'],
    ['ignores the calls without a bound for them', { callsBelow: undefined }, usage(1, 9_999), 'met'],
    ['is not known without a ledger', {}, undefined, 'unknown'],
    ['is not known before anything is counted', {}, { ...usage(0, 0), since: undefined }, 'unknown'],
    ['is unknown while the ledger is younger than the rule', {}, usage(0, 0, SUNSET - 29 * DAY), 'unknown'],
    ['is little enough once the ledger is as old as the rule', {}, usage(0, 0, SUNSET - 30 * DAY), 'met'],
    ['is too much even if the ledger is young', {}, usage(5, 500, SUNSET - DAY), 'exceeded'],
  ])('%s', (_title, rule, summary, kind) => {
    expect(judgeRetirement({ ...RULE, ...rule }, summary, SUNSET)).toEqual({ kind, usage: summary });
  });

  it('is printed as text', () => {
    expect(usageInWords(usage(14, 3_100))).toBe('14 consumers, 3,100 calls in 30 days');
    expect(retireWhenInWords({ ...RULE, consumersBelow: 1 })).toBe(
      'below 1 consumer and 100 calls in 30 days',
    );
  });
});

describe('the retire_when section', () => {
  it('has a default of thirty days and a warning', () => {
    expect(retireWhenSection.parse({ consumers_below: 1 })).toEqual({
      consumersBelow: 1,
      callsBelow: undefined,
      days: 30,
      onExceed: 'warn',
    });
    const whole = { consumers_below: 3, calls_below: '100/14d', on_exceed: 'hold' };
    expect(retireWhenSection.parse(whole)).toEqual({ ...RULE, consumersBelow: 3, days: 14 });
  });

  it.each([
    {},
    { on_exceed: 'hold' },
    { calls_below: '100/36h' },
    { calls_below: '100/1m' },
    { calls_below: '5/400d' },
    { consumers_below: 0 },
    { consumers_below: 1.5 },
    { consumers_below: 1, on_exceed: 'refuse' },
  ])('is refused as %j', (written) => {
    expect(retireWhenSection.safeParse(written).success).toBe(false);
  });
});

describe('the hold of a guard', () => {
  const hold = (changes: Partial<Hold> = {}): Hold => ({
    kind: 'hold',
    id: 'guard-orders-v1',
    api: 'orders',
    label: 'v1',
    author: 'guard',
    reason: '14 consumers, 3,100 calls in 30 days; to be retired below 2 consumers and 100 calls in 30 days',
    from: SUNSET - 24 * HOUR,
    until: SUNSET + 72 * HOUR,
    ...changes,
  });
  const at = (now: number, standing?: Hold, retirement: Parameters<typeof holdFor>[2] = BUSY, rule = RULE) =>
    holdFor(life(), rule, retirement, { now, hold: standing });

  it('begins a day before the sunset and ends three days after it', () => {
    expect(at(SUNSET - 24 * HOUR - 1)).toBeUndefined();
    expect(at(SUNSET - 24 * HOUR)).toEqual(hold());
    expect(at(SUNSET - 1)).toEqual(hold({ from: SUNSET - 1 }));
  });

  it('RET-11: does not begin after the sunset', () => {
    expect(at(SUNSET)).toBeUndefined();
    expect(at(SUNSET + 100 * HOUR)).toBeUndefined();
  });

  it.each<[string, Parameters<typeof holdFor>[2], RetireWhen]>([
    ['few calls remain', { kind: 'met', usage: usage(0, 0) }, RULE],
    ['the usage is unknown', { kind: 'unknown', usage: undefined }, RULE],
    ['the rule asks only for a warning', BUSY, { ...RULE, onExceed: 'warn' }],
  ])('does not begin if %s, and an existing one expires', (_title, retirement, rule) => {
    expect(at(SUNSET - HOUR, undefined, retirement, rule)).toBeUndefined();
    expect(at(SUNSET + 70 * HOUR, hold(), retirement, rule)).toBeUndefined();
  });

  it('is extended once less than two days of it remain', () => {
    expect(at(SUNSET + 24 * HOUR, hold())).toBeUndefined();
    expect(at(SUNSET + 24 * HOUR + 1, hold())).toEqual(hold({ until: SUNSET + 97 * HOUR }));
  });

  it('ends ninety days after the sunset at the latest', () => {
    const end = SUNSET + 90 * DAY;
    expect(at(end - HOUR, hold({ until: end - 1 }))).toEqual(hold({ until: end }));
    expect(at(end - HOUR, hold({ until: end }))).toBeUndefined();
  });

  it('is not extended if the sunset was extended meanwhile', () => {
    const moved = life({ sunset: SUNSET + 100 * DAY });
    expect(holdFor(moved, RULE, BUSY, { now: SUNSET + 60 * HOUR, hold: hold() })).toBeUndefined();
  });

  it('lasts exactly ninety days if the version is judged every hour', () => {
    let standing: Hold | undefined;
    let writes = 0;
    for (let now = SUNSET - 30 * HOUR; now < SUNSET + 100 * DAY; now += HOUR) {
      const inForce = standing !== undefined && now < standing.until ? standing : undefined;
      const next = at(now, inForce);
      if (next !== undefined) {
        standing = next;
        writes += 1;
      }
      const held = assess(life(), { now, overrides: standing === undefined ? [] : [standing] });
      const ended =
        phaseAt(held.phases, now).stage === 'sunset' || phaseAt(held.phases, now).stage === 'retired';
      expect(ended).toBe(now >= SUNSET + LONGEST_HELD_MS);
    }
    expect(writes).toBeLessThan(100);
  });

  it('RET-11: never revives a version that has responded with 410', () => {
    const looks = fc.array(
      fc.record({ pass: fc.integer({ min: 1, max: 60 }), busy: fc.boolean(), away: fc.boolean() }),
      { minLength: 5, maxLength: 60 },
    );
    fc.assert(
      fc.property(looks, (steps) => {
        let now = SUNSET - 40 * HOUR;
        let standing: Hold | undefined;
        let gone = false;
        for (const { pass, busy, away } of steps) {
          now += pass * HOUR;
          const overrides = standing === undefined ? [] : [standing];
          const served = phaseAt(assess(life(), { now, overrides }).phases, now).stage === 'deprecated';
          if (gone) expect(served).toBe(false);
          gone ||= !served;
          const inForce = standing !== undefined && now < standing.until ? standing : undefined;
          const next = away ? undefined : at(now, inForce, busy ? BUSY : { kind: 'met', usage: usage(0, 0) });
          standing = next ?? standing;
        }
      }),
      { numRuns: 200 },
    );
  });

  it('moves the dates in the signals, but not the brownouts', () => {
    const calendar = createBrownoutCalendar([window(SUNSET - 2 * HOUR, SUNSET - HOUR)]);
    const version = life({}, { brownouts: calendar });
    const held = assess(version, { now: SUNSET - 3 * HOUR, overrides: [hold()] });
    expect(held.schedule.sunset).toBe(SUNSET + 72 * HOUR);
    expect(held.brownouts).toBe(calendar);
    expect(phaseAt(held.phases, SUNSET).replace).toContainEqual(['sunset', 'Sun, 18 Apr 2027 00:00:00 GMT']);
    expect(assess(version, { now: SUNSET - HOUR, overrides: [hold()] })).toBe(held);
  });

  it('moves the sunset during a pause, which moves the brownouts', () => {
    const calendar = createBrownoutCalendar([window(SUNSET - 2 * HOUR, SUNSET - HOUR)]);
    const version = life({}, { brownouts: calendar });
    const overrides = [pause({ until: SUNSET + DAY }), hold()];
    const held = assess(version, { now: SUNSET - 3 * HOUR, overrides });
    expect(held.schedule.sunset).toBe(SUNSET + 72 * HOUR);
    expect(held.brownouts?.planned).toEqual([]);
    expect(assess(version, { now: SUNSET - 3 * HOUR, overrides })).toBe(held);
  });

  it('RET-11: does not apply to an operation that ends before it', () => {
    const early = life({ sunset: day('2027-02-01') });
    expect(assess(early, { now: SUNSET, overrides: [hold()] })).toBe(early);
    const operation = { ...early, operation: 'GET /search' };
    const orders = {
      name: 'orders',
      versions: new Map([['v1', life({}, { operations: { list: [operation] } })]]),
    };
    expect(effectsOf(hold(), [orders]).map(({ effect, summary }) => [effect, summary])).toEqual([
      ['sunset_held', 'v1 stays until 2027-04-18, past its sunset of 2027-04-15'],
      ['none', 'GET /search of v1 has no sunset or brownout during the pause'],
    ]);
  });
});
