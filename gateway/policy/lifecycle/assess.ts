// Applies announcements and overrides to the rules of a version at an instant.
import type { EpochMs } from '../contract.ts';
import type { Label } from '../versioning/resolution.ts';
import { type Announceable, knownAt } from './announcements.ts';
import { type BrownoutCalendar, createBrownoutCalendar } from './brownout-calendar.ts';
import type { BrownoutWindow } from './brownout-rule.ts';
import type { Exception } from './exceptions.ts';
import { type Hold, type Override, type Pause, pauseOf, retirementHoldOf } from './override.ts';
import type { Phase, Schedule } from './schedule.ts';

/** The parts of a version or operation that an override may change. The rules of a plan have this shape. */
export interface OverridableRules extends Announceable {
  readonly api: string;
  readonly label: Label;
  readonly schedule: Schedule;
  readonly phases: readonly Phase[];
  readonly phasesOf: (schedule: Schedule) => readonly Phase[];
  readonly exceptions: readonly Exception[];
  readonly brownouts: BrownoutCalendar | undefined;
  /** Undefined: the version cannot be served, paused or not. */
  readonly upstream: object | undefined;
}

export interface StageInput {
  readonly now: EpochMs;
  readonly overrides: readonly Override[];
}

interface Cached<T> {
  readonly override: Override;
  readonly made: T;
}

/** One entry per version: at any instant at most one pause applies, and one hold on its result. */
const cache = new WeakMap<OverridableRules, Cached<OverridableRules>>();
const calendars = new WeakMap<BrownoutCalendar, Cached<BrownoutCalendar>>();

/**
 * The rules at `now`, with announced dates and overrides. During a pause no brownout happens, and an end inside the pause
 * moves to the end of the pause, in headers too. A hold does the same but keeps brownouts. Returns the same object as long
 * as the same pause and hold are in force.
 */
export function assess<R extends OverridableRules>(written: R, moment: StageInput): R {
  const rules = written.earlier === undefined ? written : knownAt(written, moment.now);
  if (moment.overrides.length === 0 || rules.upstream === undefined) return rules;
  const pause = effectivePause(rules, moment);
  const hold = retirementHoldOf(moment.overrides, rules, moment.now);
  const paused = pause === undefined ? rules : cached(rules, pause, withPause);
  return hold === undefined || !beganBeforeSunset(hold, rules)
    ? paused
    : cached(paused, hold, withDatesMoved);
}

/** A hold never revives a version or operation that had ended before the hold began. */
function beganBeforeSunset({ from }: Hold, { schedule }: OverridableRules): boolean {
  return schedule.sunset !== undefined && from < schedule.sunset;
}

function cached<R extends OverridableRules, O extends Override>(
  rules: R,
  override: O,
  make: (rules: R, override: O) => R,
): R {
  const known = cache.get(rules);
  // The cached object is a copy of these rules with other dates, so the cast is safe.
  if (known !== undefined && isSame(known.override, override)) return known.made as R;
  const made = make(rules, override);
  cache.set(rules, { override, made });
  return made;
}

export function effectivePause(
  rules: Pick<OverridableRules, 'api' | 'label' | 'upstream'>,
  { overrides, now }: StageInput,
): Pause | undefined {
  if (overrides.length === 0 || rules.upstream === undefined) return undefined;
  return pauseOf(overrides, rules, now);
}

function withPause<R extends OverridableRules>(rules: R, pause: Pause): R {
  const brownouts = rules.brownouts && calendarOutside(rules.brownouts, pause);
  return withDatesMoved({ ...rules, brownouts }, pause);
}

function withDatesMoved<R extends OverridableRules>(rules: R, { until }: Override): R {
  const schedule = moveEnds(rules.schedule, until);
  if (schedule === rules.schedule) return rules;
  const phases = rules.phasesOf(schedule);
  // An exception that lasts longer than the version keeps its own date.
  const exceptions = rules.exceptions.map((each) =>
    each.until > (schedule.sunset ?? until) ? each : { ...each, phases },
  );
  return { ...rules, schedule, phases, exceptions };
}

/** Moves every end before `until` to `until`. Returns the same object if no date moves. */
function moveEnds(schedule: Schedule, until: EpochMs): Schedule {
  const ends = ['sunset', 'retired', 'forgotten'] as const;
  if (ends.every((end) => (schedule[end] ?? until) >= until)) return schedule;
  const [sunset, retired, forgotten] = ends.map((end) => {
    const date = schedule[end];
    return date === undefined ? undefined : Math.max(date, until);
  });
  // A version without a deprecation date counts as deprecated from its original end.
  const deprecated = schedule.deprecated ?? schedule.sunset ?? schedule.retired;
  return { ...schedule, deprecated, sunset, retired, forgotten };
}

/** Removes the parts of windows inside the pause. Versions and operations that share a calendar share the result. */
function calendarOutside(calendar: BrownoutCalendar, pause: Pause): BrownoutCalendar {
  const known = calendars.get(calendar);
  if (known !== undefined && isSame(known.override, pause)) return known.made;
  const made = createBrownoutCalendar(calendar.planned.flatMap((window) => windowsOutside(window, pause)));
  calendars.set(calendar, { override: pause, made });
  return made;
}

function windowsOutside(window: BrownoutWindow, { from, until }: Pause): readonly BrownoutWindow[] {
  if (window.until <= from || window.from >= until) return [window];
  return [
    { ...window, until: Math.min(window.until, from) },
    { ...window, from: Math.max(window.from, until) },
  ].filter((part) => part.from < part.until);
}

/** A store may return a new object for the same override. */
function isSame(one: Override, other: Override): boolean {
  return one === other || (one.id === other.id && one.from === other.from && one.until === other.until);
}
