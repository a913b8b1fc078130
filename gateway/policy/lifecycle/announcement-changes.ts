// Compares milestones before and after each announcement, to find coming ones and the last changes.
import type { EpochMs } from '../contract.ts';
import { type Announceable, knownAt, sortedOnce } from './announcements.ts';
import type { Life, VersionLife } from './calendar.ts';
import { milestoneText, milestoneTitle } from './milestone-words.ts';
import { type Announcement, everyMilestone, type Milestone } from './milestones.ts';

/** A version with all its announcements. The rules of a plan have this shape. */
export interface WrittenLife extends Life, Announceable {
  readonly operations: { readonly list: readonly (Life & Announceable)[] } | undefined;
}

/** The announcements after `now`, in time order, each with the dates that apply at its instant. */
export function announcementsToCome(versions: Iterable<WrittenLife>, now: EpochMs): readonly Announcement[] {
  return [...versions]
    .flatMap((version) => {
      const seen = new Set(milestonesAt(version, now).map(keyOf));
      return announcementsOf(version)
        .filter((at) => at > now)
        .flatMap((at) =>
          milestonesAt(version, at)
            .filter(isAnnouncement)
            .filter((each) => !seen.has(keyOf(each)) && seen.add(keyOf(each)))
            .map((each) => ({ ...each, at })),
        );
    })
    .sort((one, other) => one.at - other.at);
}

/** When the title or text of a milestone last changed, up to `now`. For example, a later sunset moves brownouts. */
export function lastChanges(
  versions: Iterable<WrittenLife>,
  now: EpochMs,
): (milestone: Milestone) => EpochMs {
  const changes = new Map<string, { readonly words: string; readonly since: EpochMs }>();
  for (const version of versions) {
    const instants = announcementsOf(version).filter((at) => at <= now);
    for (const since of instants.length === 0 ? [] : [Number.NEGATIVE_INFINITY, ...instants]) {
      for (const each of milestonesAt(version, since)) {
        const words = [milestoneTitle(each), ...milestoneText(each)].join('\n');
        if (changes.get(keyOf(each))?.words !== words) changes.set(keyOf(each), { words, since });
      }
    }
  }
  return (milestone) => Math.max(milestone.at, changes.get(keyOf(milestone))?.since ?? milestone.at);
}

function announcementsOf(version: WrittenLife): readonly EpochMs[] {
  const owners: readonly Announceable[] = [version, ...(version.operations?.list ?? [])];
  const earlier = owners.flatMap((life) => life.earlier ?? []);
  return sortedOnce(earlier.flatMap(({ knownUntil }) => knownUntil ?? []));
}

function milestonesAt(version: WrittenLife, at: EpochMs): readonly Milestone[] {
  const list = (version.operations?.list ?? []).map((operation) => knownAt(operation, at));
  const known: VersionLife = { ...knownAt(version, at), operations: { list } };
  return everyMilestone([known]);
}

function keyOf(milestone: Milestone): string {
  const { kind, life } = milestone;
  return JSON.stringify([life.label, life.operation, kind, 'place' in milestone ? milestone.place : 0]);
}

function isAnnouncement(milestone: Milestone): milestone is Announcement {
  const { kind } = milestone;
  return kind === 'deprecation' || kind === 'extension' || kind === 'brownouts';
}
