// Compares the published versions of an API with the versions that replace them.
import type { EpochMs } from '../../policy/contract.ts';
import { parseLabel } from '../../policy/versioning/label.ts';
import { type Label, UNVERSIONED } from '../../policy/versioning/resolution.ts';
import { createResolutionRules } from '../../policy/versioning/rules.ts';
import { effectiveSunset } from '../../sections/schedule/redirects.ts';
import {
  type CheckedVersion,
  checkedVersion,
  type PolicyView,
  type Report,
  versionName,
  versionPath,
} from '../../sections/view.ts';
import { pinsRewritten } from './pins-rewritten.ts';
import { effectiveEnd, isForgotten, isReleased } from './published-dates.ts';
import type { PublishedDates } from './record.ts';
import {
  datesHidden,
  datesRewritten,
  hasPins,
  sunsetRewritten,
  versionRewritten,
} from './rewritten-dates.ts';

export type PublishedVersions = ReadonlyMap<Label, PublishedDates>;

/** The API that answers now. */
export interface ReplacingApi {
  readonly view: PolicyView;
  readonly report: Report;
}

/** Compares the versions of the last published files. Planned ones may change or disappear. `elsewhere`: labels of another API with the same places. */
export function checkPast(
  past: PublishedVersions,
  replacing: ReplacingApi,
  now: EpochMs,
  elsewhere: ReadonlySet<string>,
): void {
  const { view, report } = replacing;
  checkShared(past, replacing, now);
  const published = publishedOf(past, now);
  const whole = past.get(UNVERSIONED);
  if (whole !== undefined) {
    // The API has versions now. Before, no account was pinned.
    if (!view.unversioned && published.size > 0) versionsGained(whole, replacing);
    return;
  }
  const replaced = replacedVersions([...published.keys()], view.labels);
  for (const each of replaced) checkReplaced(past, each, replacing);
  const byFullName = replaced.filter((each) => each.wholly).map(({ label }) => label);
  for (const label of published.keys())
    if (!byFullName.includes(label) && !elsewhere.has(label) && !view.labels.includes(label))
      versionRemoved(label, replacing);
  versionsLost(published, replacing);
  if (published.size > 0) pinsRewritten(past, view, now, report);
}

export function checkShared(past: PublishedVersions, { view, report }: ReplacingApi, now: EpochMs): void {
  const published = publishedOf(past, now);
  for (const [label, version] of view.versions) {
    const older = published.get(label);
    if (older === undefined) continue;
    const subject = checkedVersion(label, version, view);
    versionRewritten(older, subject, report);
    datesHidden(older, subject, now, report);
  }
}

/** Compares with the recorded dates of versions that `past`, the last published files, did not have. */
export function checkFormer(
  former: PublishedVersions,
  past: PublishedVersions,
  replacing: ReplacingApi,
): void {
  const { view, report } = replacing;
  for (const [label, version] of view.versions) {
    const older = former.get(label);
    if (older === undefined) continue;
    const { released, deprecated, sunset } = version;
    const still = {
      ...older,
      ...(released === undefined && { released }),
      ...(deprecated === undefined && { deprecated }),
      ...(sunset === undefined && { sunset }),
    };
    versionRewritten(still, checkedVersion(label, version, view), report);
  }
  for (const each of replacedVersions([...former.keys()], view.labels))
    if (!past.has(each.by)) checkReplaced(former, each, replacing);
  if ([...past.values()].some((dates) => effectiveEnd(dates) !== undefined)) return;
  const whole = former.get(UNVERSIONED);
  if (view.unversioned)
    versionsLost(new Map([...former].filter(([label]) => label !== UNVERSIONED)), replacing);
  else if (whole !== undefined) sunsetGained(whole, replacing);
}

/** Versions that callers may know. An API without versions counts if it had a deprecation or a sunset. */
export function publishedOf(past: PublishedVersions, now: EpochMs): PublishedVersions {
  const wasPublished = (label: Label, { deprecated, sunset }: PublishedDates) =>
    label !== UNVERSIONED || (deprecated ?? sunset) !== undefined;
  return new Map(
    [...past].filter(
      ([label, dates]) => wasPublished(label, dates) && isReleased(dates, now) && !isForgotten(dates, now),
    ),
  );
}

interface ReplacedVersion {
  readonly label: Label;
  readonly by: Label;
  /** Whether requests for the full name also get the other version. */
  readonly wholly: boolean;
}

/** Removed versions whose requests another version gets: `v2` selects the newest version with that major. */
function replacedVersions(past: readonly Label[], present: readonly Label[]): readonly ReplacedVersion[] {
  const [then, now] = [past, present].map(
    (labels) => createResolutionRules({ labels, header: undefined, default: undefined }).candidates,
  );
  return past
    .filter((label) => !present.includes(label))
    .flatMap((label) => {
      const parsed = parseLabel(label);
      if (parsed?.kind !== 'number') return [];
      const short = `v${parsed.major}`;
      const by = now?.(short)[0];
      return by === undefined || then?.(short)[0] !== label ? [] : [{ label, by, wholly: label === short }];
    });
}

function checkReplaced(
  past: PublishedVersions,
  { label, by }: ReplacedVersion,
  { view, report }: ReplacingApi,
): void {
  const older = past.get(label);
  const version = view.versions.get(by);
  if (older === undefined || version === undefined) return;
  sunsetRewritten(older, { ...checkedVersion(by, version, view), label }, report);
}

/** Without its dates the version is unknown, so callers get 404 instead of 410. */
function versionRemoved(label: Label, { view, report }: ReplacingApi): void {
  report(['versions'], {
    rule: 'version-removed',
    message: `${label} was published and is no longer declared: its callers get 404 instead of 410 or a redirect`,
    hint: `keep ${label} and its dates; after its sunset it needs no upstream`,
    change: { api: view.parts.api ?? '', label, to: 'removed' },
    at: 'key',
  });
}

/** For an API that had no versions: its dates hold for the versions of requests without one. Needs a default. */
function versionsGained(older: PublishedDates, replacing: ReplacingApi): void {
  const { view, report } = replacing;
  sunsetGained(older, replacing);
  // One version is the same API under a name. With several, the dates may belong to any of them.
  if (view.labels.length === 1)
    for (const each of defaultVersions(view)) datesRewritten({ ...older, released: undefined }, each, report);
  if (view.parts.resolve === undefined || hasPins(view) || defaultOf(view) !== undefined) return;
  report(['resolve'], {
    rule: 'version-removed',
    message: `${versionName(UNVERSIONED, view.parts)} was published without versions, and requests without a version are now refused`,
    hint: 'add default: and the version that these requests got',
    at: 'key',
  });
}

function sunsetGained(older: PublishedDates, { view, report }: ReplacingApi): void {
  for (const each of defaultVersions(view)) sunsetRewritten(older, each, report);
}

/** For an API that has no versions now: its sunset is not before the published sunset of any version. */
function versionsLost(published: PublishedVersions, { view, report }: ReplacingApi): void {
  const version = view.versions.get(UNVERSIONED);
  if (version === undefined) return;
  for (const [label, older] of published)
    sunsetRewritten(older, { label, version, at: versionPath(UNVERSIONED), view }, report);
}

/** The versions that requests without one may get, under the name of the API. All if accounts are pinned. */
function defaultVersions(view: PolicyView): readonly CheckedVersion[] {
  const fallback = defaultOf(view);
  const latest = [...view.versions].toSorted(
    ([, a], [, b]) =>
      (effectiveSunset(b) ?? Number.MAX_SAFE_INTEGER) - (effectiveSunset(a) ?? Number.MAX_SAFE_INTEGER),
  );
  const labels = hasPins(view) ? view.labels : [fallback ?? latest[0]?.[0]];
  return labels.flatMap((each) => {
    const version = each === undefined ? undefined : view.versions.get(each);
    if (each === undefined || version === undefined) return [];
    return { label: versionName(UNVERSIONED, view.parts), version, at: versionPath(each), view };
  });
}

function defaultOf({ parts }: PolicyView): string | undefined {
  return parts.resolve?.find((entry) => entry.default !== undefined)?.default;
}
