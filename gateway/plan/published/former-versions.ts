// The record of published dates that no file has any more: all dates of a version that was left out, and the removed
// dates of a version that is still there.
import type { EpochMs } from '../../policy/contract.ts';
import { UNVERSIONED } from '../../policy/versioning/resolution.ts';
import type { VersionParts } from '../../sections/policy-file.ts';
import { effectiveSunset } from '../../sections/schedule/redirects.ts';
import { endingOperations } from '../rules/operations-rewritten.ts';
import { isReleased } from '../rules/past.ts';
import type { FormerVersion } from './record.ts';

const DAY_MS = 86_400_000;
/** After that long a version that comes back is new, unless its sunset is still to come. */
const KEPT_MS = 730 * DAY_MS;
/** Of all APIs together. Names made by a machine are not to fill a store. */
const MOST_KEPT = 50_000;

/** The dates of a version that rules compare; those of an operation are of the one that answers the same requests. */
type Dates = Pick<
  VersionParts,
  'released' | 'deprecated' | 'sunset' | 'extended' | 'forgotten' | 'operations'
>;

const KEYS = ['released', 'deprecated', 'sunset', 'extended', 'forgotten'] as const;

export function datesOf(former: FormerVersion): Dates {
  const { label, released, deprecated, sunset, extended: to, forgotten, operations = {} } = former;
  return {
    released: label === UNVERSIONED ? Number.NEGATIVE_INFINITY : released,
    deprecated,
    sunset,
    extended: to === undefined ? undefined : [{ to, announced: to }],
    forgotten,
    operations: Object.fromEntries(
      Object.entries(operations).map(([name, ends]): [string, { sunset: EpochMs }] => [
        name,
        { sunset: ends },
      ]),
    ),
  };
}

/** The dates of `later`; those that it lacks are taken from `earlier`. */
export function overlaid(earlier: Dates, later: Dates): Dates {
  const stated = KEYS.flatMap((key) => (later[key] === undefined ? [] : [[key, later[key]]]));
  return {
    ...earlier,
    ...Object.fromEntries(stated),
    // A sunset comes with its extensions, or without any.
    ...(later.sunset !== undefined && { extended: later.extended }),
    operations: { ...unstated(earlier, later).operations, ...later.operations },
  };
}

/** The dates and operation sunsets of `known` that `today` does not have. */
export function unstated({ deprecated, sunset, extended, operations }: Dates, today: Dates): Dates {
  const stated = endingOperations(today);
  const gone = [...endingOperations({ operations })].flatMap(([requests, ending]) =>
    stated.has(requests) ? [] : [[ending.name, { sunset: ending.sunset }]],
  );
  return {
    ...(today.deprecated === undefined && { deprecated }),
    ...(today.sunset === undefined && { sunset, extended }),
    operations: Object.fromEntries(gone),
  };
}

/** The entry to record once `today` is published; undefined if the files have every date. */
export function formerOf(
  { api, label, places, left }: Pick<FormerVersion, 'api' | 'label' | 'places' | 'left'>,
  known: Dates,
  today: Dates | undefined,
  now: EpochMs,
): FormerVersion | undefined {
  const isThere = today !== undefined && isReleased(today, now);
  const kept = isThere ? unstated(known, today) : overlaid(known, today ?? {});
  const { released, deprecated, sunset, extended, forgotten } = kept;
  const ends = [...endingOperations(kept).values()].map(({ name, sunset: end }) => [name, end]);
  if (isThere && deprecated === undefined && sunset === undefined && ends.length === 0) return undefined;
  const to = extended?.at(-1)?.to;
  return {
    kind: 'former',
    api,
    label,
    places,
    left,
    ...(released !== undefined && Number.isFinite(released) && { released }),
    ...(deprecated !== undefined && { deprecated }),
    ...(sunset !== undefined && { sunset }),
    ...(to !== undefined && { extended: to }),
    ...(forgotten !== undefined && { forgotten }),
    ...(ends.length > 0 && { operations: Object.fromEntries(ends) }),
  };
}

/** Without entries that are long past, and at most MOST_KEPT. Entries with a sunset to come are dropped last. */
export function keptOf(former: readonly FormerVersion[], now: EpochMs): readonly FormerVersion[] {
  const isPending = (each: FormerVersion) => endOf(each) > now;
  const kept = former.filter(
    (each) => !isForgotten(each, now) && (isPending(each) || now < each.left + KEPT_MS),
  );
  if (kept.length <= MOST_KEPT) return kept;
  return kept
    .toSorted((a, b) => Number(isPending(b)) - Number(isPending(a)) || b.left - a.left)
    .slice(0, MOST_KEPT);
}

function endOf(former: FormerVersion): EpochMs {
  const ends = [effectiveSunset(datesOf(former)), ...Object.values(former.operations ?? {})];
  return Math.max(...ends.map((end) => end ?? Number.NEGATIVE_INFINITY));
}

function isForgotten({ forgotten }: FormerVersion, now: EpochMs): boolean {
  return forgotten !== undefined && forgotten <= now;
}
