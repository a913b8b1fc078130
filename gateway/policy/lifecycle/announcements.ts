// The rules as callers know them: extensions, brownouts and deprecations count once they are announced.
import type { EpochMs } from '../contract.ts';
import type { BrownoutRule } from './brownout-rule.ts';
import type { Schedule } from './schedule.ts';

/** The rules of a plan have this shape. Both fields are absent if no announcement is to come. */
export interface Announceable {
  /** The rules before each announcement, in time order. After the last announcement the rules themselves apply. */
  readonly earlier?: readonly Announceable[] | undefined;
  /** The instant of the next announcement: these rules apply before it. */
  readonly knownUntil?: EpochMs | undefined;
}

export function knownAt<Rules extends Announceable>(rules: Rules, now: EpochMs): Rules {
  const { earlier } = rules;
  if (earlier === undefined) return rules;
  for (const each of earlier) {
    // Each earlier entry is a copy of these rules with other dates, so the cast is safe.
    if (each.knownUntil !== undefined && now < each.knownUntil) return each as Rules;
  }
  return rules;
}

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

/** When the deprecation is announced. Undefined without `announced`: the dates are public at once. */
export function announcementOf({
  announced,
  deprecated,
}: Partial<Pick<Schedule, 'announced' | 'deprecated'>>): EpochMs | undefined {
  return announced === undefined || deprecated === undefined ? undefined : Math.min(announced, deprecated);
}

/** The schedule at `now`. Before the announcement of the deprecation it has no dates, successor, guide or reason. */
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
