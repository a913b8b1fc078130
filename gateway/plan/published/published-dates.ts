// The published dates of a version: from a policy file, from the record, or removed from all files.
import { DAY_MS, type EpochMs } from '../../policy/contract.ts';
import { announcementOf } from '../../policy/lifecycle/announcements.ts';
import { UNVERSIONED } from '../../policy/versioning/resolution.ts';
import type { VersionParts } from '../../sections/policy-file.ts';
import { pairs } from '../changes/compare.ts';
import type { FormerVersion, PublishedDates } from './record.ts';

/** After this time a version that comes back counts as new, unless its sunset is in the future. */
const KEPT_MS = 730 * DAY_MS;
/** Limit for all APIs together, so that generated names cannot fill a store. */
const MAX_KEPT = 50_000;

/** Without dates and extensions that are announced after `now`. */
export function announcedParts(version: VersionParts, now: EpochMs): VersionParts {
  const { announced, deprecated, sunset, extended, retired, forgotten, ...rest } = version;
  return now < (announcementOf(version) ?? now) ? rest : withAnnounced(version, now);
}

/** Without extensions that are announced after `now`. */
export function withAnnounced(version: VersionParts, now: EpochMs): VersionParts {
  return { ...version, extended: version.extended?.filter(({ announced }) => announced <= now) };
}

/** `version`: its announced parts. If operations have the same requests, the last one counts. */
export function datesOf(version: VersionParts): PublishedDates {
  const { released, announced, deprecated, sunset, extended, forgotten, operations = {} } = version;
  const ends = new Map(
    Object.entries(operations).flatMap(([name, operation]) =>
      operation.sunset === undefined ? [] : [[requestsOf(name), [name, operation.sunset]] as const],
    ),
  );
  return {
    ...{ released, announced, deprecated, sunset, extended: extended?.at(-1)?.to, forgotten },
    operations: Object.fromEntries(ends.values()),
  };
}

/** The names of parameters do not matter. */
function requestsOf(operation: string): string {
  return operation.replaceAll(/\{[^}]*\}/g, '{}');
}

export function datesOfRecord(former: FormerVersion): PublishedDates {
  return former.label === UNVERSIONED ? { ...former, released: Number.NEGATIVE_INFINITY } : former;
}

/** The effective sunset. */
export function effectiveEnd({ extended, sunset }: PublishedDates): EpochMs | undefined {
  return extended ?? sunset;
}

/** Whether callers can reach the version or its 410. */
export function isReleased({ released }: PublishedDates, now: EpochMs): boolean {
  return released !== undefined && released <= now;
}

export function isForgotten({ forgotten }: PublishedDates, now: EpochMs): boolean {
  return forgotten !== undefined && forgotten <= now;
}

/** The sunsets of operations on both sides, by their requests. */
export function operationPairs(
  { operations: some = {} }: PublishedDates,
  { operations: others = {} }: PublishedDates,
) {
  return pairs(Object.entries(some), Object.entries(others), ([name]) => requestsOf(name));
}

/** The dates of `later`, completed by those of `earlier`. */
export function mergedDates(earlier: PublishedDates, later: PublishedDates): PublishedDates {
  return {
    released: later.released ?? earlier.released,
    deprecated: later.deprecated ?? earlier.deprecated,
    sunset: later.sunset ?? earlier.sunset,
    // The extensions belong to the sunset of the same side.
    extended: later.extended ?? (later.sunset === undefined ? earlier.extended : undefined),
    forgotten: later.forgotten ?? earlier.forgotten,
    operations: { ...missingDates(earlier, later).operations, ...later.operations },
  };
}

/** The dates and operation sunsets of `known` that `today` lacks. */
export function missingDates(known: PublishedDates, today: PublishedDates): PublishedDates {
  const { deprecated, sunset, extended } = known;
  const gone = operationPairs(known, today).flatMap(([, own, other]) =>
    own === undefined || other !== undefined ? [] : [own],
  );
  return {
    ...(today.deprecated === undefined && { deprecated }),
    ...(today.sunset === undefined && { sunset, extended }),
    operations: Object.fromEntries(gone),
  };
}

/** The entry to record when `today` is published. Undefined if the files have every date. */
export function formerVersionOf(
  identity: Pick<FormerVersion, 'api' | 'label' | 'places' | 'left'>,
  known: PublishedDates,
  today: PublishedDates | undefined,
  now: EpochMs,
): FormerVersion | undefined {
  const isThere = today !== undefined && isReleased(today, now);
  const kept = isThere ? missingDates(known, today) : mergedDates(known, today ?? {});
  const operations = Object.keys(kept.operations ?? {}).length === 0 ? undefined : kept.operations;
  if (isThere && (kept.deprecated ?? kept.sunset ?? operations) === undefined) return undefined;
  // JSON has no infinite numbers.
  const released = Number.isFinite(kept.released) ? kept.released : undefined;
  return { kind: 'former', ...identity, ...kept, released, operations };
}

/** Drops old entries and keeps at most MAX_KEPT. Entries with a future sunset are dropped last. */
export function withoutOldEntries(former: readonly FormerVersion[], now: EpochMs): readonly FormerVersion[] {
  const isPending = (each: FormerVersion) =>
    [effectiveEnd(each), ...Object.values(each.operations ?? {})].some(
      (end) => end !== undefined && end > now,
    );
  const kept = former.filter(
    (each) => !isForgotten(each, now) && (isPending(each) || now < each.left + KEPT_MS),
  );
  if (kept.length <= MAX_KEPT) return kept;
  return kept
    .toSorted((a, b) => Number(isPending(b)) - Number(isPending(a)) || b.left - a.left)
    .slice(0, MAX_KEPT);
}
