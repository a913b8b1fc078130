// Derives the milestones of versions from their dates: the changelog, and the countdown to a sunset.
import { DAY_MS, type EpochMs } from '../contract.ts';
import { dateInWords } from '../notation.ts';
import { announcementOf } from './announcements.ts';
import { isUnversioned } from './api-life.ts';
import type { Life, VersionLife } from './calendar.ts';
import { type Override, pauseOf, retirementHoldOf } from './override.ts';
import type { Schedule } from './schedule.ts';

export type Milestone = { readonly life: Life; readonly at: EpochMs } & (
  | { readonly kind: 'released' }
  /** `sunset`: as first published. */
  | { readonly kind: 'deprecation'; readonly deprecated: EpochMs; readonly sunset: EpochMs | undefined }
  | (Listed & { readonly kind: 'extension'; readonly from: EpochMs | undefined; readonly to: EpochMs })
  /** All brownouts of one rule, from the start of the first to the end of the last. */
  | (Listed & {
      readonly kind: 'brownouts';
      readonly from: EpochMs;
      readonly until: EpochMs;
      readonly count: number;
    })
  /** A step of the countdown, `days` before the sunset. Only `countdownOf` makes it. The changelog does not contain it. */
  | { readonly kind: 'approaching'; readonly days: number; readonly sunset: EpochMs }
  | { readonly kind: 'sunset' }
  | { readonly kind: 'retired' }
);

/** Distinguishes milestones that are announced at one instant. */
interface Listed {
  readonly place: number;
}

/**
 * The milestones up to `now`, latest first. At one instant, the later step of a life comes first. Pass versions with
 * overrides applied, because a held sunset has not happened. An operation adds only what differs from its version.
 */
export function milestonesOf(versions: Iterable<VersionLife>, now: EpochMs): readonly Milestone[] {
  return everyMilestone(versions)
    .filter(({ at }) => at <= now)
    .reverse()
    .sort((one, other) => other.at - one.at);
}

export function nextMilestone(versions: Iterable<VersionLife>, now: EpochMs): EpochMs {
  const instants = everyMilestone(versions).map(({ at }) => at);
  return Math.min(Number.POSITIVE_INFINITY, ...instants.filter((at) => at > now));
}

export type Announcement = Extract<Milestone, { kind: 'deprecation' | 'extension' | 'brownouts' }>;

/** Past and future milestones, for each version in the order of its life. */
export function everyMilestone(versions: Iterable<VersionLife>): readonly Milestone[] {
  return [...versions].flatMap((version) => [
    ...ownMilestones(version, undefined),
    ...(version.operations?.list ?? []).flatMap((operation) => ownMilestones(operation, version)),
  ]);
}

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

/** `orders/v1/sunset-30d/2027-04-15`. For an operation of an API without versions: `orders/GET%20%2Fsearch/sunset/…`. */
export function milestoneId(milestone: Milestone): string {
  const { api, label, operation, schedule } = milestone.life;
  const place = [
    api,
    ...(isUnversioned(schedule) ? [] : [label]),
    ...(operation === undefined ? [] : [operation]),
  ];
  const [what, day] = whatAndDay(milestone);
  return [...place.map(encodeURIComponent), what, dateInWords(day)].join('/');
}

function whatAndDay(milestone: Milestone): readonly [string, EpochMs] {
  switch (milestone.kind) {
    case 'deprecation':
      return ['deprecated', milestone.deprecated];
    case 'extension':
      return ['extended', milestone.to];
    case 'brownouts':
      return ['brownouts', milestone.from];
    case 'approaching':
      return [`sunset-${milestone.days}d`, milestone.sunset];
    case 'released':
    case 'sunset':
    case 'retired':
      return [milestone.kind, milestone.at];
    default:
      return milestone satisfies never;
  }
}

export interface CountdownRule {
  readonly daysBefore: readonly number[];
  /** Since when callers know this sunset. Earlier steps are omitted. */
  readonly knownSince: EpochMs;
}

/** Past and future steps in time order. Empty without a sunset. Pass the life with overrides applied. */
export function countdownOf(life: Life, { daysBefore, knownSince }: CountdownRule): readonly Milestone[] {
  const { sunset } = life.schedule;
  if (sunset === undefined) return [];
  return daysBefore
    .map((days): Milestone => ({ kind: 'approaching', life, at: sunset - days * DAY_MS, days, sunset }))
    .filter(({ at }) => at >= knownSince)
    .sort((one, other) => one.at - other.at);
}

/**
 * Since when callers know the effective sunset: the deprecation, the last extension, or the override that moved it. A hold
 * keeps its `from` when it is renewed, so renewals do not restart the countdown.
 */
export function sunsetKnownSince(
  asKnown: Schedule,
  asItStands: Schedule,
  version: Pick<Life, 'api' | 'label'>,
  { now, overrides }: { readonly now: EpochMs; readonly overrides: readonly Override[] },
): EpochMs {
  const { deprecated = Number.NEGATIVE_INFINITY, extended = [] } = asKnown;
  const announcedAt = Math.max(
    announcementOf(asKnown) ?? deprecated,
    ...extended.map((each) => each.announced),
  );
  if (asKnown.sunset === asItStands.sunset) return announcedAt;
  const moved = [pauseOf(overrides, version, now), retirementHoldOf(overrides, version, now)];
  return Math.max(announcedAt, ...moved.flatMap((override) => override?.from ?? []));
}
