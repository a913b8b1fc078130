// The life of a version during a pause.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { assess, effectivePause, type OverridableRules } from '../../gateway/policy/lifecycle/assess.ts';
import { createBrownoutCalendar } from '../../gateway/policy/lifecycle/brownout-calendar.ts';
import { nextOverrideChange, type Override, type Pause } from '../../gateway/policy/lifecycle/override.ts';
import { phaseAt } from '../../gateway/policy/lifecycle/phases.ts';
import { isForgotten } from '../../gateway/policy/lifecycle/retirement.ts';
import type { Stage } from '../../gateway/policy/lifecycle/schedule.ts';
import { version } from '../support/exchange-samples.ts';
import { BEGIN, DAY, day, END, HOUR, life, pause, SUNSET, window } from './paused-life.ts';

const STAGES: readonly Stage[] = ['planned', 'active', 'deprecated', 'sunset', 'retired'];

function stageAt(rules: OverridableRules, now: number, overrides: readonly Override[] = [pause()]): Stage {
  return phaseAt(assess(rules, { overrides, now }).phases, now).stage;
}

describe('during a pause', () => {
  it.each<[string, number, Stage, Stage]>([
    ['nothing changes before it begins', BEGIN - 1, 'deprecated', 'deprecated'],
    ['the stage stays the same before the sunset', BEGIN, 'deprecated', 'deprecated'],
    ['the sunset does not happen', SUNSET, 'retired', 'deprecated'],
    ['the version is not retired until the last millisecond', END - 1, 'retired', 'deprecated'],
    ['the version is retired exactly at its end', END, 'retired', 'retired'],
  ])('%s', (_what, now, without, under) => {
    expect(stageAt(life(), now, [])).toBe(without);
    expect(stageAt(life(), now)).toBe(under);
  });

  it('SUN-1, WARN-3: Sunset and Warning contain the end of the pause, and Deprecation stays', () => {
    const lines = (overrides: readonly Override[]) => {
      const { phases } = assess(life(), { overrides, now: BEGIN });
      const { replace, warning } = phaseAt(phases, BEGIN);
      const of = new Map(replace);
      return { deprecation: of.get('deprecation'), sunset: of.get('sunset'), warning };
    };
    const [before, under] = [lines([]), lines([pause()])];
    expect(before.sunset).toBe('Thu, 15 Apr 2027 00:00:00 GMT');
    expect(under.sunset).toBe('Tue, 20 Apr 2027 00:00:00 GMT');
    expect(under.warning).toContain('will be removed on 2027-04-20');
    expect(under.deprecation).toBe(before.deprecation);
  });

  it('a pause that ends before the sunset changes no date', () => {
    const rules = life();
    const { schedule, phases } = assess(rules, { overrides: [pause({ until: SUNSET })], now: BEGIN });
    expect(schedule).toBe(rules.schedule);
    expect(phases).toBe(rules.phases);
  });

  it('retired and forgotten move to the end of the pause', () => {
    const dates = { sunset: SUNSET, retired: SUNSET + DAY, forgotten: END + DAY };
    const { schedule } = assess(life(dates), { overrides: [pause()], now: SUNSET });
    expect(schedule).toMatchObject({ sunset: END, retired: END, forgotten: END + DAY });
  });

  it('STAT-1: a forgotten version is known again', () => {
    const rules = life({ forgotten: SUNSET + HOUR });
    const forgottenAt = (now: number) =>
      isForgotten(assess(rules, { overrides: [pause()], now }).schedule, now);
    expect([SUNSET + HOUR, END - 1, END].map(forgottenAt)).toEqual([false, false, true]);
    expect(stageAt(rules, SUNSET + HOUR)).toBe('deprecated');
  });

  it('a version without a deprecation date is deprecated from its original end on', () => {
    const rules = life({ deprecated: undefined });
    expect(stageAt(rules, SUNSET - 1)).toBe('active');
    expect(stageAt(rules, SUNSET)).toBe('deprecated');
  });

  it('RET-11: a version without an upstream stays gone', () => {
    const rules = life({}, { upstream: undefined });
    const moment = { overrides: [pause()], now: SUNSET };
    expect(assess(rules, moment)).toBe(rules);
    expect(effectivePause(rules, moment)).toBeUndefined();
  });

  it('an exception keeps its end only if it is later than the pause', () => {
    const leave = { consumer: 'acme', from: ['sunset'], why: '', by: '' } as const;
    const own = (until: number) => {
      const phases = version().phasesOf({ ...life().schedule, sunset: until });
      return { ...leave, until, phases };
    };
    const rules = life({}, { exceptions: [own(SUNSET + DAY), own(END + DAY)] });
    const { exceptions, phases } = assess(rules, { overrides: [pause()], now: SUNSET });
    expect(exceptions[0]?.phases).toBe(phases);
    expect(phaseAt(exceptions[1]?.phases ?? [], END).until).toBe(END + DAY);
  });

  it('no window is open: overlapping windows are cut, others stay', () => {
    const windows = [
      window(BEGIN - 2 * HOUR, BEGIN - HOUR),
      window(BEGIN - HOUR, BEGIN + HOUR),
      window(SUNSET - 3 * HOUR, SUNSET - 2 * HOUR),
      window(SUNSET - HOUR, SUNSET),
    ];
    const until = SUNSET - HOUR / 2;
    const rules = life({}, { brownouts: createBrownoutCalendar(windows) });
    const { brownouts } = assess(rules, { overrides: [pause({ until })], now: BEGIN });
    expect(brownouts?.planned.map(({ from, until }) => [from, until])).toEqual([
      [BEGIN - 2 * HOUR, BEGIN - HOUR],
      [BEGIN - HOUR, BEGIN],
      [until, SUNSET],
    ]);
    expect(brownouts?.nextChange(BEGIN)).toBe(until);
  });
});

describe('the pause in force', () => {
  it.each<[string, Partial<Pause>, boolean]>([
    ['one of the whole API', {}, true],
    ['one of the version', { label: 'v1' }, true],
    ['not a pause of another version', { label: 'v2' }, false],
    ['not a pause of another API', { api: 'payments' }, false],
    ['not one that has ended', { until: SUNSET }, false],
    ['not one that begins later', { from: SUNSET + 1 }, false],
  ])('%s', (_what, changes, counts) => {
    expect(stageAt(life(), SUNSET, [pause(changes)])).toBe(counts ? 'deprecated' : 'retired');
  });

  it('is the one that ends last, in any order', () => {
    const both = [pause(), pause({ id: 'p2', until: END + DAY })];
    for (const overrides of [both, both.toReversed()])
      expect(assess(life(), { overrides, now: SUNSET }).schedule.sunset).toBe(END + DAY);
  });

  it('the rules are cached until the pause changes or another one is in force', () => {
    const rules = life();
    const under = (changes: Partial<Pause>) => assess(rules, { overrides: [pause(changes)], now: SUNSET });
    const first = under({});
    expect(under({ reason: 'read again from the store' })).toBe(first);
    expect(under({ until: END + 1 }).schedule.sunset).toBe(END + 1);
    expect(under({ id: 'p2' })).not.toBe(first);
    expect(assess(rules, { overrides: [], now: SUNSET })).toBe(rules);
  });

  it('operations that share a calendar with their version still share it during a pause', () => {
    const brownouts = createBrownoutCalendar([window(BEGIN, BEGIN + HOUR)]);
    const [one, other] = [life({}, { brownouts }), life({}, { brownouts })].map((rules) =>
      assess(rules, { overrides: [pause()], now: BEGIN }),
    );
    expect(one?.brownouts).toBe(other?.brownouts);
    expect(one?.brownouts).not.toBe(brownouts);
  });

  it('CACHE-6: its start and end count as changes while they are in the future', () => {
    const all = [pause(), pause({ label: 'v2', from: BEGIN - DAY }), pause({ api: 'payments', from: 5 })];
    const next = (now: number) => nextOverrideChange(all, { api: 'orders', label: 'v1' }, now);
    expect([BEGIN - 1, BEGIN, END - 1, END].map(next)).toEqual([BEGIN, END, END, Infinity]);
  });
});

describe('with any dates', () => {
  const instant = fc.integer({ min: day('2026-01-01'), max: day('2028-01-01') });
  const date = fc.option(instant, { nil: undefined });
  const schedules = fc.record({
    released: instant,
    deprecated: date,
    sunset: date,
    retired: date,
    forgotten: date,
  });
  const pauses = fc.array(
    fc
      .record({ id: fc.uuid(), label: fc.constantFrom(undefined, 'v1', 'v2'), from: instant, until: instant })
      .map((drawn) => pause(drawn)),
    { maxLength: 4 },
  );

  it('no stage is later with a pause than without, and outside a pause it is the same', () => {
    fc.assert(
      fc.property(schedules, pauses, instant, (dates, overrides, now) => {
        const rules = life(dates);
        const [without, under] = [stageAt(rules, now, []), stageAt(rules, now, overrides)];
        expect(STAGES.indexOf(under)).toBeLessThanOrEqual(STAGES.indexOf(without));
        const held = overrides.some(({ label, from, until }) => label !== 'v2' && from <= now && now < until);
        if (held) expect(['planned', 'active', 'deprecated']).toContain(under);
        else expect(assess(rules, { overrides, now })).toBe(rules);
      }),
    );
  });

  it('phases cover all time, and Sunset is not before the end of the pause', () => {
    fc.assert(
      fc.property(schedules, pauses, instant, (dates, overrides, now) => {
        const rules = life(dates);
        const held = effectivePause(rules, { overrides, now });
        const { phases } = assess(rules, { overrides, now });
        expect(phases[0]?.from).toBe(-Infinity);
        expect(phases.at(-1)?.until).toBe(Infinity);
        phases.forEach(({ from, until }, index) => {
          expect(from).toBeLessThan(until);
          if (index > 0) expect(phases[index - 1]?.until).toBe(from);
        });
        const sunset = new Map(phaseAt(phases, now).replace).get('sunset');
        if (held === undefined || sunset === undefined) return;
        expect(new Date(Date.parse(sunset)).toUTCString()).toBe(sunset);
        expect(Date.parse(sunset)).toBeGreaterThanOrEqual(Math.floor(held.until / 1000) * 1000);
      }),
    );
  });

  it('a window refuses requests exactly if it is open and no pause is in force', () => {
    const windows = fc
      .uniqueArray(instant, { minLength: 2, maxLength: 12 })
      .map((bounds) => bounds.toSorted((a, b) => a - b))
      .map((bounds) =>
        bounds.flatMap((from, index) => {
          const until = bounds[index + 1];
          return index % 2 === 0 && until !== undefined ? [window(from, until)] : [];
        }),
      );
    fc.assert(
      fc.property(windows, pauses, instant, (planned, overrides, now) => {
        const rules = life({}, { brownouts: createBrownoutCalendar(planned) });
        const moment = { overrides, now };
        const { brownouts } = assess(rules, moment);
        const inWindow = planned.some(({ from, until }) => from <= now && now < until);
        const held = effectivePause(rules, moment) !== undefined;
        expect(brownouts?.at(now) !== undefined).toBe(inWindow && !held);
        // From its end on, a pause has no effect.
        const after = Math.max(now, effectivePause(rules, moment)?.until ?? now);
        expect(brownouts?.at(after) !== undefined).toBe(rules.brownouts?.at(after) !== undefined);
      }),
    );
  });
});
