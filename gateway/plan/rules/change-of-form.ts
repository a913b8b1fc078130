// An API that gets versions, or gives them up: its callers stay, and so does what they were told of its end.
import { UNVERSIONED } from '../../policy/versioning/resolution.ts';
import type { VersionParts } from '../../sections/policy-file.ts';
import { effectiveSunset } from '../../sections/schedule/redirects.ts';
import {
  type CheckedVersion,
  type PolicyView,
  type Report,
  versionName,
  versionPath,
} from '../../sections/view.ts';
import { datesRewritten, hasPins, sunsetRewritten } from './dates-rewritten.ts';

/**
 * What was published of the API as a whole holds for every version that a request without one may be given; where none
 * is given, for at least one. `older` was published.
 */
export function versionsGained(older: VersionParts, view: PolicyView, report: Report): void {
  endsGained(older, view, report);
  // The same under a name; beside others the dates may be those of another version.
  if (view.labels.length === 1)
    for (const heir of heirsOf(view)) datesRewritten({ ...older, released: undefined }, heir, report);
  if (view.parts.resolve === undefined || givesUnasked(view)) return;
  report(['resolve'], {
    rule: 'version-removed',
    message: `${versionName(UNVERSIONED, view.parts)} was published without versions, and requests that name none are refused by now`,
    hint: 'add default: and the version that was meant by them',
    at: 'key',
  });
}

/** The sunset alone. */
export function endsGained(older: VersionParts, view: PolicyView, report: Report): void {
  for (const heir of heirsOf(view)) sunsetRewritten(older, heir, report);
}

/** What was published of each version holds for the API that answers in their place. */
export function versionsLost(
  published: ReadonlyMap<string, VersionParts>,
  view: PolicyView,
  report: Report,
): void {
  const version = view.versions.get(UNVERSIONED);
  if (version === undefined) return;
  for (const [label, older] of published)
    sunsetRewritten(older, { label, version, at: versionPath(UNVERSIONED), view }, report);
}

/** Under the name of the API; any version, where accounts are pinned. */
function heirsOf(view: PolicyView): readonly CheckedVersion[] {
  const label = versionName(UNVERSIONED, view.parts);
  return heirLabels(view).flatMap((heir) => {
    const version = view.versions.get(heir);
    return version === undefined ? [] : [{ label, version, at: versionPath(heir), view }];
  });
}

function heirLabels(view: PolicyView): readonly string[] {
  if (hasPins(view)) return view.labels;
  const fallback = defaultOf(view);
  if (fallback !== undefined) return [fallback];
  const [longest] = [...view.versions].toSorted(([, a], [, b]) => endOf(b) - endOf(a));
  return longest === undefined ? [] : [longest[0]];
}

function givesUnasked(view: PolicyView): boolean {
  return hasPins(view) || defaultOf(view) !== undefined;
}

function defaultOf({ parts }: PolicyView): string | undefined {
  return parts.resolve?.find((entry) => entry.default !== undefined)?.default;
}

/** A date no calendar reaches, so that two without an end can be compared. */
function endOf(version: VersionParts): number {
  return effectiveSunset(version) ?? Number.MAX_SAFE_INTEGER;
}
