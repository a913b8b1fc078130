// The countdown to a sunset: one milestone for each configured number of days before it, for mails and events.
// The changelog of an API does not show the countdown.
import type { EpochMs } from '../contract.ts';
import type { Life } from './calendar.ts';
import { announcementOf } from './known.ts';
import type { Milestone } from './milestones.ts';
import { type Override, pauseOf, retirementHoldOf } from './override.ts';
import type { Schedule } from './schedule.ts';

export interface CountdownRule {
  readonly daysBefore: readonly number[];
  /** Since when callers know this sunset. Earlier steps are left out. */
  readonly knownSince: EpochMs;
}

const DAY_MS = 86_400_000;

/** Every step, past and future, in time order; empty without a sunset. Pass the life with overrides applied. */
export function countdownOf(life: Life, { daysBefore, knownSince }: CountdownRule): readonly Milestone[] {
  const { sunset } = life.schedule;
  if (sunset === undefined) return [];
  return daysBefore
    .map((days): Milestone => ({ kind: 'approaching', life, at: sunset - days * DAY_MS, days, sunset }))
    .filter(({ at }) => at >= knownSince)
    .sort((one, other) => one.at - other.at);
}

/**
 * Since when the effective sunset is that day: the deprecation, the last extension, or the override that moved it. A hold
 * that is renewed day by day thus begins no countdown of its own until its last day.
 */
export function sunsetKnownSince(
  asKnown: Schedule,
  asItStands: Schedule,
  version: Pick<Life, 'api' | 'label'>,
  { now, overrides }: { readonly now: EpochMs; readonly overrides: readonly Override[] },
): EpochMs {
  const { deprecated = Number.NEGATIVE_INFINITY, extended = [] } = asKnown;
  const said = Math.max(announcementOf(asKnown) ?? deprecated, ...extended.map((each) => each.announced));
  if (asKnown.sunset === asItStands.sunset) return said;
  const moved = [pauseOf(overrides, version, now), retirementHoldOf(overrides, version, now)];
  return Math.max(said, ...moved.flatMap((override) => override?.from ?? []));
}
