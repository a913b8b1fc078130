// The changelog of an API: what was announced of its versions and when, from the dates in its file.
// calendar.ts has when dates come; this file has when they were announced.
import type { EpochMs } from '../contract.ts';
import type { Life, VersionLife } from './calendar.ts';
import { announcementOf } from './known.ts';

export type Milestone = { readonly life: Life; readonly at: EpochMs } & (
  | { readonly kind: 'released' }
  /** `sunset`: as first published. */
  | { readonly kind: 'deprecation'; readonly deprecated: EpochMs; readonly sunset: EpochMs | undefined }
  | (Listed & { readonly kind: 'extension'; readonly from: EpochMs | undefined; readonly to: EpochMs })
  /** The brownouts of one rule: `from` the first, `until` the end of the last. */
  | (Listed & {
      readonly kind: 'brownouts';
      readonly from: EpochMs;
      readonly until: EpochMs;
      readonly count: number;
    })
  /** A step of the countdown, `days` before that sunset. countdown.ts makes it; the changelog does not show it. */
  | { readonly kind: 'approaching'; readonly days: number; readonly sunset: EpochMs }
  | { readonly kind: 'sunset' }
  | { readonly kind: 'retired' }
);

/** Several may be announced at one instant. */
interface Listed {
  /** Index in the list of the policy file. */
  readonly place: number;
}

/**
 * The milestones up to `now`, the latest first. At one instant, the later step of a life comes first. Pass versions with
 * overrides applied: a sunset that is held has not come. An operation adds only what differs from its version.
 */
export function milestonesOf(versions: Iterable<VersionLife>, now: EpochMs): readonly Milestone[] {
  return everyMilestone(versions)
    .filter(({ at }) => at <= now)
    .reverse()
    .sort((one, other) => other.at - one.at);
}

/** The instant of the next milestone, or `Infinity`. */
export function nextMilestone(versions: Iterable<VersionLife>, now: EpochMs): EpochMs {
  const instants = everyMilestone(versions).map(({ at }) => at);
  return Math.min(Number.POSITIVE_INFINITY, ...instants.filter((at) => at > now));
}

/** Milestones that announce a date to come. */
export type Announcement = Extract<Milestone, { kind: 'deprecation' | 'extension' | 'brownouts' }>;

/** All milestones, past and future, of each version in the order of its life. */
export function everyMilestone(versions: Iterable<VersionLife>): readonly Milestone[] {
  return [...versions].flatMap((version) => [
    ...ownMilestones(version, undefined),
    ...(version.operations?.list ?? []).flatMap((operation) => ownMilestones(operation, version)),
  ]);
}

/** In the order of a life. */
function ownMilestones(life: Life, within: Life | undefined): readonly Milestone[] {
  const { schedule } = life;
  const differs = (date: 'released' | 'deprecated' | 'sunset' | 'retired'): boolean =>
    schedule[date] !== within?.schedule[date];
  const { released, deprecated, sunset, retired, extended = [] } = schedule;
  const milestones: Milestone[] = [];
  if (Number.isFinite(released) && differs('released'))
    milestones.push({ kind: 'released', life, at: released });
  if (deprecated !== undefined && differs('deprecated')) {
    const first = schedule.published ?? sunset;
    const at = announcementOf(schedule) ?? deprecated;
    milestones.push({ kind: 'deprecation', life, at, deprecated, sunset: first });
  }
  milestones.push(...brownoutsAnnounced(life, within));
  if (within === undefined || differs('sunset')) {
    for (const [place, { announced: at, to }] of extended.entries()) {
      const from = extended[place - 1]?.to ?? schedule.published;
      milestones.push({ kind: 'extension', life, place, at, from, to });
    }
  }
  if (sunset !== undefined && differs('sunset')) milestones.push({ kind: 'sunset', life, at: sunset });
  if (retired !== undefined && retired !== sunset && differs('retired'))
    milestones.push({ kind: 'retired', life, at: retired });
  return milestones;
}

function brownoutsAnnounced(life: Life, within: Life | undefined): readonly Milestone[] {
  if (life.brownouts === undefined || life.brownouts === within?.brownouts) return [];
  const rules = Map.groupBy(life.brownouts.planned, ({ rule }) => rule);
  return [...rules].flatMap(([place, windows]) => {
    const [first, last] = [windows[0], windows.at(-1)];
    if (first === undefined || last === undefined) return [];
    return {
      kind: 'brownouts',
      life,
      place,
      at: first.announced,
      from: first.from,
      until: last.until,
      count: windows.length,
    };
  });
}
