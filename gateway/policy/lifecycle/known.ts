// What callers know of a version at an instant: extensions, brownouts and a deprecation count from the day they are announced.
// The one place that decides it; assess.ts starts from here, and every view reads what assess.ts returns.
import type { EpochMs } from '../contract.ts';
import type { BrownoutRule } from './brownout-rule.ts';
import type { Schedule } from './schedule.ts';

/** The rules of a plan have this form; without later announcements both are left out. */
export interface Announceable {
  /** What was known before each later announcement, in time order; the rules themselves hold after the last of them. */
  readonly earlier?: readonly Announceable[] | undefined;
  /** The next announcement: until then, exclusive, these rules are what is known. */
  readonly knownUntil?: EpochMs | undefined;
}

/** The rules as they are known at `now`: the same object until the next announcement. */
export function knownAt<Rules extends Announceable>(rules: Rules, now: EpochMs): Rules {
  const { earlier } = rules;
  if (earlier === undefined) return rules;
  for (const each of earlier) {
    // The earlier ones were made of these rules, so that they have whatever else those have.
    if (each.knownUntil !== undefined && now < each.knownUntil) return each as Rules;
  }
  return rules;
}

/** Each instant at which more becomes known, in time order. */
export function announcementsOf(
  schedule: Schedule,
  brownouts: readonly BrownoutRule[] | undefined = [],
): readonly EpochMs[] {
  const { extended = [] } = schedule;
  const deprecation = announcementOf(schedule);
  const instants = [...extended, ...brownouts].map(({ announced }) => announced);
  return sortedOnce(deprecation === undefined ? instants : [deprecation, ...instants]);
}

export function sortedOnce(instants: readonly EpochMs[]): readonly EpochMs[] {
  return [...new Set(instants)].sort((one, other) => one - other);
}

/** When the deprecation is announced; undefined where no day is written: then its dates are public with the file. */
export function announcementOf({
  announced,
  deprecated,
}: Partial<Pick<Schedule, 'announced' | 'deprecated'>>): EpochMs | undefined {
  return announced === undefined || deprecated === undefined ? undefined : Math.min(announced, deprecated);
}

/**
 * The dates as they are known at `now`. Before the deprecation is announced none of them, nor what to do about it; of the
 * extensions those that are announced.
 */
export function knownSchedule(schedule: Schedule, now: EpochMs): Schedule {
  const { extended = [], published } = schedule;
  if (now < (announcementOf(schedule) ?? now)) {
    const { released, status, serviceDoc, serviceDesc } = schedule;
    const dates = { deprecated: undefined, sunset: undefined, retired: undefined, forgotten: undefined };
    const advice = { successor: undefined, guide: undefined, reason: undefined };
    return { released, ...dates, ...advice, status, serviceDoc, serviceDesc, after: { kind: 'gone' } };
  }
  const known = extended.filter(({ announced }) => announced <= now);
  if (known.length === extended.length) return schedule;
  return { ...schedule, extended: known, sunset: known.at(-1)?.to ?? published };
}
