// The life of a version under a pause: what is held, what stays, when it is over, and what the operator is told of it.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { assess, holdOf, type Living } from '../../gateway/policy/lifecycle/assess.ts';
import { createBrownoutCalendar } from '../../gateway/policy/lifecycle/brownout-calendar.ts';
import type { BrownoutWindow } from '../../gateway/policy/lifecycle/brownout-rule.ts';
import {
  longOver,
  nextOverrideChange,
  type Override,
  type Pause,
} from '../../gateway/policy/lifecycle/override.ts';
import { effectsOf, type PausableVersion } from '../../gateway/policy/lifecycle/pause-effects.ts';
import { LONGEST_PAUSE_MS, makePause, type PauseRequest } from '../../gateway/policy/lifecycle/pause-rule.ts';
import { phaseAt } from '../../gateway/policy/lifecycle/phases.ts';
import { isForgotten } from '../../gateway/policy/lifecycle/retirement.ts';
import type { Schedule, Stage } from '../../gateway/policy/lifecycle/schedule.ts';
import { version } from '../support/exchange-samples.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const day = (text: string) => Temporal.Instant.from(`${text}T00:00:00Z`).epochMilliseconds;
const STAGES: readonly Stage[] = ['planned', 'active', 'deprecated', 'sunset', 'retired'];

const SUNSET = day('2027-04-15');
const BEGIN = SUNSET - 2 * DAY;
const END = SUNSET + 5 * DAY;

const pause = (changes: Partial<Pause> = {}): Pause => ({
  kind: 'pause',
  id: 'p1',
  api: 'orders',
  label: undefined,
  author: 'alice',
  reason: 'incident 12',
  from: BEGIN,
  until: END,
  ...changes,
});

/** Orders v1, served by an upstream, with other dates. */
function life(changes: Partial<Schedule> = {}, more: Partial<PausableVersion> = {}): PausableVersion {
  const { operations: _none, upstream: _nowhere, ...base } = version();
  const schedule = { ...base.schedule, ...changes };
  return {
    ...base,
    schedule,
    phases: base.phasesOf(schedule),
    upstream: {},
    operations: undefined,
    ...more,
  };
}

const window = (from: number, until: number): BrownoutWindow => ({
  from,
  until,
  rule: 0,
  announced: 0,
  status: 410,
  share: undefined,
  message: undefined,
});

function stageAt(rules: Living, now: number, overrides: readonly Override[] = [pause()]): Stage {
  return phaseAt(assess(rules, { overrides, now }).phases, now).stage;
}

describe('while a pause runs', () => {
  it.each<[string, number, Stage, Stage]>([
    ['before it nothing is changed', BEGIN - 1, 'deprecated', 'deprecated'],
    ['before the sunset the version is what it was', BEGIN, 'deprecated', 'deprecated'],
    ['the sunset does not happen', SUNSET, 'retired', 'deprecated'],
    ['to its last millisecond', END - 1, 'retired', 'deprecated'],
    ['at its end the version is gone to the second', END, 'retired', 'retired'],
  ])('%s', (_what, now, without, under) => {
    expect(stageAt(life(), now, [])).toBe(without);
    expect(stageAt(life(), now)).toBe(under);
  });

  it('SUN-1, WARN-3: the signals tell its end for the sunset, and Deprecation stays', () => {
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

  it('one that ends before the sunset leaves every date as it is', () => {
    const rules = life();
    const { schedule, phases } = assess(rules, { overrides: [pause({ until: SUNSET })], now: BEGIN });
    expect(schedule).toBe(rules.schedule);
    expect(phases).toBe(rules.phases);
  });

  it('retired and forgotten wait as long, and not longer', () => {
    const dates = { sunset: SUNSET, retired: SUNSET + DAY, forgotten: END + DAY };
    const { schedule } = assess(life(dates), { overrides: [pause()], now: SUNSET });
    expect(schedule).toMatchObject({ sunset: END, retired: END, forgotten: END + DAY });
  });

  it('STAT-1: what is forgotten already is known again', () => {
    const rules = life({ forgotten: SUNSET + HOUR });
    const forgottenAt = (now: number) =>
      isForgotten(assess(rules, { overrides: [pause()], now }).schedule, now);
    expect([SUNSET + HOUR, END - 1, END].map(forgottenAt)).toEqual([false, false, true]);
    expect(stageAt(rules, SUNSET + HOUR)).toBe('deprecated');
  });

  it('a version that would have ended without notice is deprecated from that day on', () => {
    const rules = life({ deprecated: undefined });
    expect(stageAt(rules, SUNSET - 1)).toBe('active');
    expect(stageAt(rules, SUNSET)).toBe('deprecated');
  });

  it('RET-11: what has no upstream stays gone', () => {
    const rules = life({}, { upstream: undefined });
    const moment = { overrides: [pause()], now: SUNSET };
    expect(assess(rules, moment)).toBe(rules);
    expect(holdOf(rules, moment)).toBeUndefined();
  });

  it('a consumer keeps a last day of its own that is later, and none that is earlier', () => {
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

  it('no window is open; those around it are cut, the others stay', () => {
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

describe('which pause counts', () => {
  it.each<[string, Partial<Pause>, boolean]>([
    ['one of the whole API', {}, true],
    ['one of the version', { label: 'v1' }, true],
    ['not one of another version', { label: 'v2' }, false],
    ['not one of another API', { api: 'payments' }, false],
    ['not one that is over', { until: SUNSET }, false],
    ['not one to come', { from: SUNSET + 1 }, false],
  ])('%s', (_what, changes, counts) => {
    expect(stageAt(life(), SUNSET, [pause(changes)])).toBe(counts ? 'deprecated' : 'retired');
  });

  it('of several the one that ends last, whatever their order', () => {
    const both = [pause(), pause({ id: 'p2', until: END + DAY })];
    for (const overrides of [both, both.toReversed()])
      expect(assess(life(), { overrides, now: SUNSET }).schedule.sunset).toBe(END + DAY);
  });

  it('the rules under a pause are made once, and anew when it is moved or another one counts', () => {
    const rules = life();
    const under = (changes: Partial<Pause>) => assess(rules, { overrides: [pause(changes)], now: SUNSET });
    const first = under({});
    expect(under({ reason: 'read again from the store' })).toBe(first);
    expect(under({ until: END + 1 }).schedule.sunset).toBe(END + 1);
    expect(under({ id: 'p2' })).not.toBe(first);
    expect(assess(rules, { overrides: [], now: SUNSET })).toBe(rules);
  });

  it('operations that share the calendar of their version share it under a pause as well', () => {
    const brownouts = createBrownoutCalendar([window(BEGIN, BEGIN + HOUR)]);
    const [one, other] = [life({}, { brownouts }), life({}, { brownouts })].map((rules) =>
      assess(rules, { overrides: [pause()], now: BEGIN }),
    );
    expect(one?.brownouts).toBe(other?.brownouts);
    expect(one?.brownouts).not.toBe(brownouts);
  });

  it('CACHE-6: its beginning and its end are changes, as far as they are to come', () => {
    const all = [pause(), pause({ label: 'v2', from: BEGIN - DAY }), pause({ api: 'payments', from: 5 })];
    const next = (now: number) => nextOverrideChange(all, { api: 'orders', label: 'v1' }, now);
    expect([BEGIN - 1, BEGIN, END - 1, END].map(next)).toEqual([BEGIN, END, END, Infinity]);
  });
});

describe('whatever the dates', () => {
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

  it('no stage is later under a pause than without, and outside of every pause it is the same', () => {
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

  it('phases cover all time, and Sunset parses to an instant that is not before the end of the pause', () => {
    fc.assert(
      fc.property(schedules, pauses, instant, (dates, overrides, now) => {
        const rules = life(dates);
        const held = holdOf(rules, { overrides, now });
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

  it('a request meets a window exactly when there is one and no pause runs', () => {
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
        const held = holdOf(rules, moment) !== undefined;
        expect(brownouts?.at(now) !== undefined).toBe(inWindow && !held);
        // And from the end of the pause on it is as if there had been none.
        const after = Math.max(now, holdOf(rules, moment)?.until ?? now);
        expect(brownouts?.at(after) !== undefined).toBe(rules.brownouts?.at(after) !== undefined);
      }),
    );
  });
});

describe('making a pause', () => {
  const NOW = day('2027-04-14');
  const request = (changes: Partial<PauseRequest> = {}): PauseRequest => ({
    api: 'orders',
    label: 'v1',
    author: 'alice',
    reason: 'incident 12',
    from: undefined,
    until: END,
    ...changes,
  });
  const unversioned = life({ released: -Infinity, deprecated: undefined, sunset: undefined });
  const apis = [
    { name: 'orders', versions: new Map([['v1', life()]]) },
    { name: 'health', versions: new Map([['none', { ...unversioned, api: 'health', label: 'none' }]]) },
  ];
  const make = (changes: Partial<PauseRequest>) => makePause(request(changes), { apis, now: NOW, id: 'p1' });

  it('begins now unless it says when, and keeps who and why, trimmed', () => {
    const made = make({ author: ' alice ', reason: 'incident 12: see “#ops”\n' });
    expect(made).toMatchObject({
      kind: 'pause',
      pause: pause({ label: 'v1', reason: 'incident 12: see “#ops”', from: NOW }),
      effects: [{ version: 'v1', effect: 'sunset_held' }],
    });
    expect(make({ from: NOW + HOUR })).toMatchObject({ kind: 'pause', pause: { from: NOW + HOUR } });
    expect(make({ label: undefined, until: NOW + LONGEST_PAUSE_MS }).kind).toBe('pause');
  });

  it('SUN-1: ends on a whole second, not before the instant asked for', () => {
    const untils = [END - 1, END, END + 1].map((until) => {
      const made = make({ until });
      return made.kind === 'pause' && made.pause.until;
    });
    expect(untils).toEqual([END, END, END + 1000]);
  });

  it('is remembered for a day after its end, and no longer', () => {
    const over = pause();
    expect([END, END + DAY - 1, END + DAY].map((now) => longOver([over], now))).toEqual([[], [], [over]]);
  });

  it.each<[string, Partial<PauseRequest>, string, string]>([
    ['an API nobody knows', { api: 'order' }, 'api', 'no API has this name; there is orders'],
    [
      'an API without versions or dates',
      { api: 'health' },
      'api',
      'an API without versions and without dates has nothing to pause',
    ],
    ['a version nobody knows', { label: 'v9' }, 'label', 'orders has no such version; there is v1'],
    [
      'an end that has passed',
      { until: NOW },
      'until',
      'must be later than 2027-04-14, when the pause begins',
    ],
    [
      'an end before its beginning',
      { from: END },
      'until',
      'must be later than 2027-04-20, when the pause begins',
    ],
    ['a beginning in the past', { from: NOW - 1 }, 'from', 'is in the past; leave it out to begin now'],
    [
      'more than 90 days',
      { until: NOW + LONGEST_PAUSE_MS + 1 },
      'until',
      'a pause ends 2027-07-13 at the latest, 90 days from now; for longer, extend the sunset',
    ],
    ['nobody', { author: '  ' }, 'author', 'must not be empty'],
    ['no reason', { reason: '' }, 'reason', 'must not be empty'],
    ['a reason of two lines', { reason: 'one\ntwo' }, 'reason', 'must be one line of printable text'],
    ['an escape sequence', { author: 'al\u001b[31mice' }, 'author', 'must be one line of printable text'],
    ['a text turned around', { reason: 'a\u202eb' }, 'reason', 'must be one line of printable text'],
    ['a novel', { reason: 'x'.repeat(201) }, 'reason', 'may have at most 200 characters'],
  ])('%s is refused with the field and what to do', (_what, changes, field, message) => {
    expect(make(changes)).toEqual({ kind: 'refused', problems: [{ field, message }] });
  });

  it('everything that is wrong is said at once', () => {
    const refused = make({ api: 'x', until: 0, author: '', reason: '' });
    expect(refused.kind === 'refused' && refused.problems.map(({ field }) => field)).toEqual([
      'api',
      'until',
      'author',
      'reason',
    ]);
  });

  const windows = createBrownoutCalendar([window(BEGIN, BEGIN + HOUR), window(SUNSET - HOUR, SUNSET)]);

  it.each<[string, PausableVersion, Partial<Pause>, string, string]>([
    [
      'ended already',
      life({ sunset: BEGIN - DAY }),
      {},
      'served_again',
      'v1 is served again until 2027-04-20, past its sunset of 2027-04-12',
    ],
    [
      'about to end',
      life({}, { brownouts: windows }),
      {},
      'sunset_held',
      'v1 stays until 2027-04-20 without 2 brownouts, past its sunset of 2027-04-15',
    ],
    [
      'browned out meanwhile',
      life({}, { brownouts: windows }),
      { until: BEGIN + DAY },
      'brownouts_held',
      'v1 is served until 2027-04-14 without 1 brownout',
    ],
    [
      'without upstream',
      life({ sunset: 0 }, { upstream: undefined }),
      {},
      'stays_ended',
      'v1 has no upstream: its 410 stays',
    ],
    [
      'redirected and without upstream',
      life({ sunset: 0, after: { kind: 'redirect', to: 'v2', unsafe: 308 } }, { upstream: undefined }),
      {},
      'stays_ended',
      'v1 has no upstream: its redirect stays',
    ],
    [
      'forgotten and without upstream',
      life({ sunset: 0, forgotten: 1 }, { upstream: undefined }),
      {},
      'stays_ended',
      'v1 has no upstream: its 404 stays',
    ],
    ['far from its end', life({ sunset: END }), {}, 'none', 'v1 has nothing to hold in that time'],
  ])('says what it does to a version %s', (_what, rules, changes, effect, summary) => {
    const found = effectsOf(pause(changes), [{ name: 'orders', versions: new Map([['v1', rules]]) }]);
    expect(found).toMatchObject([{ version: 'v1', operation: undefined, effect, summary }]);
  });

  it('names the operations that end by themselves, and only the versions meant', () => {
    const search = { ...life({ sunset: BEGIN - DAY }), operation: 'GET /search' };
    const same = { ...life(), operation: 'GET /' };
    const v1 = life({}, { operations: { list: [search, same] } });
    const versions = new Map([
      ['v1', v1],
      ['v2', { ...life(), label: 'v2' }],
    ]);
    const named = (label: string | undefined) =>
      effectsOf(pause({ label }), [{ name: 'orders', versions }]).map(
        ({ version: of, operation, effect }) => [of, operation, effect],
      );
    expect(named('v1')).toEqual([
      ['v1', undefined, 'sunset_held'],
      ['v1', 'GET /search', 'served_again'],
    ]);
    expect(named(undefined)).toContainEqual(['v2', undefined, 'sunset_held']);
    expect(effectsOf(pause({ api: 'gone' }), [{ name: 'orders', versions }])).toEqual([]);
  });
});
