// Applies announcements and overrides to the rules of a version at an instant.
import type { EpochMs } from '../contract.ts';
import type { Label } from '../versioning/resolution.ts';
import { type BrownoutCalendar, createBrownoutCalendar } from './brownout-calendar.ts';
import type { BrownoutWindow } from './brownout-rule.ts';
import type { Exception } from './exceptions.ts';
import { type Announceable, knownAt } from './known.ts';
import { type Hold, type Override, type Pause, pauseOf, retirementHoldOf } from './override.ts';
import type { Phase, Schedule } from './schedule.ts';

/** The parts of a version or operation that an override may change. The rules of a plan have this shape. */
export interface Living extends Announceable {
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

export interface Moment {
  readonly now: EpochMs;
  readonly overrides: readonly Override[];
}

interface Remembered<T> {
  readonly override: Override;
  readonly made: T;
}

/** One entry per version: at any instant at most one pause applies, and one hold on its result. */
const lives = new WeakMap<Living, Remembered<Living>>();
const calendars = new WeakMap<BrownoutCalendar, Remembered<BrownoutCalendar>>();

/**
 * The rules at `now`, with announced dates and overrides. During a pause no brownout happens, and an end inside the pause
 * moves to the end of the pause, in headers too. A hold does the same but keeps brownouts. Returns the same object as long
 * as the same pause and hold are in force.
 */
export function assess<R extends Living>(written: R, moment: Moment): R {
  const rules = written.earlier === undefined ? written : knownAt(written, moment.now);
  if (moment.overrides.length === 0 || rules.upstream === undefined) return rules;
  const pause = holdOf(rules, moment);
  const hold = retirementHoldOf(moment.overrides, rules, moment.now);
  const paused = pause === undefined ? rules : remembered(rules, pause, underPause);
  return hold === undefined || !isTimely(hold, rules) ? paused : remembered(paused, hold, underHold);
}

/** A hold never revives a version or operation that had ended before the hold began. */
function isTimely({ from }: Hold, { schedule }: Living): boolean {
  return schedule.sunset !== undefined && from < schedule.sunset;
}

function remembered<R extends Living, O extends Override>(
  rules: R,
  override: O,
  make: (rules: R, override: O) => R,
): R {
  const known = lives.get(rules);
  // The cached object is a copy of these rules with other dates, so the cast is safe.
  if (known !== undefined && isSame(known.override, override)) return known.made as R;
  const made = make(rules, override);
  lives.set(rules, { override, made });
  return made;
}

export function holdOf(
  rules: Pick<Living, 'api' | 'label' | 'upstream'>,
  { overrides, now }: Moment,
): Pause | undefined {
  if (overrides.length === 0 || rules.upstream === undefined) return undefined;
  return pauseOf(overrides, rules, now);
}

function underPause<R extends Living>(rules: R, pause: Pause): R {
  const brownouts = rules.brownouts && clear(rules.brownouts, pause);
  return underHold({ ...rules, brownouts }, pause);
}

function underHold<R extends Living>(rules: R, { until }: Override): R {
  const schedule = holdDates(rules.schedule, until);
  if (schedule === rules.schedule) return rules;
  const phases = rules.phasesOf(schedule);
  // An exception that lasts longer than the version keeps its own date.
  const exceptions = rules.exceptions.map((each) =>
    each.until > (schedule.sunset ?? until) ? each : { ...each, phases },
  );
  return { ...rules, schedule, phases, exceptions };
}

/** Moves every end before `until` to `until`. Returns the same object if no date moves. */
function holdDates(schedule: Schedule, until: EpochMs): Schedule {
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
function clear(calendar: BrownoutCalendar, pause: Pause): BrownoutCalendar {
  const known = calendars.get(calendar);
  if (known !== undefined && isSame(known.override, pause)) return known.made;
  const made = createBrownoutCalendar(calendar.planned.flatMap((window) => outside(window, pause)));
  calendars.set(calendar, { override: pause, made });
  return made;
}

function outside(window: BrownoutWindow, { from, until }: Pause): readonly BrownoutWindow[] {
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
