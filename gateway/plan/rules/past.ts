// The rules that compare a version of today with the same version as published.
import type { EpochMs } from '../../policy/contract.ts';
import { parseLabel } from '../../policy/versioning/label.ts';
import { type Label, UNVERSIONED } from '../../policy/versioning/resolution.ts';
import { createResolutionRules } from '../../policy/versioning/rules.ts';
import type { VersionParts } from '../../sections/policy-file.ts';
import { effectiveSunset } from '../../sections/schedule/redirects.ts';
import { type CheckedVersion, checkedVersion, type PolicyView, type Report } from '../../sections/view.ts';
import { endsGained, versionsGained, versionsLost } from './change-of-form.ts';
import { datesHidden, datesRewritten, sunsetRewritten } from './dates-rewritten.ts';
import { operationsRewritten } from './operations-rewritten.ts';
import { pinsRewritten } from './pins-rewritten.ts';

export type PastVersions = ReadonlyMap<string, VersionParts>;

interface AnsweredInstead {
  readonly label: Label;
  readonly by: Label;
  /** Even requests for the full name get it. */
  readonly wholly: boolean;
}

/**
 * `now`: versions that were only planned may change and go; a version once released was published. `elsewhere`: labels
 * that another API answers by now, where these were found.
 */
export function checkPast(
  past: PastVersions,
  view: PolicyView,
  now: EpochMs,
  report: Report,
  elsewhere: ReadonlySet<string> = new Set(),
): void {
  checkShared(past, view, now, report);
  const whole = past.get(UNVERSIONED);
  if (whole !== undefined) {
    // The API has versions now; no account was pinned before.
    if (!view.unversioned && wasPublished(whole, now)) versionsGained(whole, view, report);
    return;
  }
  const published = publishedOf(past, now);
  const replaced = answeredInstead(published, view.labels);
  for (const { label, by } of replaced) checkReplaced(past.get(label), label, by, view, report);
  const wholly = replaced.filter((each) => each.wholly).map(({ label }) => label);
  versionRemoved(
    published.filter((label) => !wholly.includes(label) && !elsewhere.has(label)),
    view,
    report,
  );
  versionsLost(new Map([...past].filter(([label]) => published.includes(label))), view, report);
  if (published.length > 0) pinsRewritten(past, view, now, report);
}

/** Versions that are in both. */
export function checkShared(past: PastVersions, view: PolicyView, now: EpochMs, report: Report): void {
  for (const [label, version] of view.versions) {
    const older = past.get(label);
    if (older === undefined || !wasPublished(older, now)) continue;
    const subject = checkedVersion(label, version, view);
    checkVersion(older, subject, report);
    datesHidden(older, subject, now, report);
  }
}

/**
 * Compares with recorded dates that `past`, the files published last, did not have.
 */
export function checkFormer(
  former: PastVersions,
  past: PastVersions,
  view: PolicyView,
  report: Report,
): void {
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
    checkVersion(still, checkedVersion(label, version, view), report);
  }
  for (const { label, by } of answeredInstead([...former.keys()], view.labels))
    if (!past.has(by)) checkReplaced(former.get(label), label, by, view, report);
  if ([...past.values()].some((version) => effectiveSunset(version) !== undefined)) return;
  const whole = former.get(UNVERSIONED);
  if (view.unversioned) versionsLost(new Map([...former].filter(isNamed)), view, report);
  else if (whole !== undefined) endsGained(whole, view, report);
}

function isNamed([label]: readonly [string, unknown]): boolean {
  return label !== UNVERSIONED;
}

function checkVersion(older: VersionParts, subject: CheckedVersion, report: Report): void {
  sunsetRewritten(older, subject, report);
  datesRewritten(older, subject, report);
  operationsRewritten(older, subject, report);
}

function checkReplaced(
  older: VersionParts | undefined,
  label: string,
  by: string,
  view: PolicyView,
  report: Report,
): void {
  const version = view.versions.get(by);
  if (older === undefined || version === undefined) return;
  sunsetRewritten(older, { ...checkedVersion(by, version, view), label }, report);
}

/** Labels of versions that callers may know of; an API without versions counts once it was to end. */
export function publishedOf(past: PastVersions, now: EpochMs): readonly string[] {
  return [...past].flatMap(([label, version]) => (wasPublished(version, now) ? [label] : []));
}

function wasPublished(version: VersionParts, now: EpochMs): boolean {
  const { released, deprecated, sunset, forgotten } = version;
  if (released === Number.NEGATIVE_INFINITY && deprecated === undefined && sunset === undefined) return false;
  return isReleased(version, now) && !(forgotten !== undefined && forgotten <= now);
}

/** Whether callers can reach it, or what it leaves behind. */
export function isReleased({ released }: Pick<VersionParts, 'released'>, now: EpochMs): boolean {
  return released !== undefined && released <= now;
}

/** Versions that are not declared any more and whose requests another answers: `v2` means the newest of its major. */
function answeredInstead(past: readonly Label[], present: readonly Label[]): readonly AnsweredInstead[] {
  const [then, now] = [answersTo(past), answersTo(present)];
  return past
    .filter((label) => !present.includes(label))
    .flatMap((label) => {
      const parsed = parseLabel(label);
      if (parsed?.kind !== 'number') return [];
      const short = `v${parsed.major}`;
      const by = now(short);
      return by === undefined || then(short) !== label ? [] : [{ label, by, wholly: label === short }];
    });
}

function answersTo(labels: readonly Label[]): (requested: string) => Label | undefined {
  const { candidates } = createResolutionRules({ labels, header: undefined, default: undefined });
  return (requested) => candidates(requested)[0];
}

/** Without its tombstone a version is unknown, and its callers get a 404 that explains nothing. */
function versionRemoved(published: readonly string[], view: PolicyView, report: Report): void {
  const missing = published.filter((label) => !view.labels.includes(label));
  for (const label of missing) {
    report(['versions'], {
      rule: 'version-removed',
      message: `${label} was published and is not declared any more: its callers get 404 instead of 410 or a redirect`,
      hint: `keep ${label} and its dates; after its sunset it needs no upstream`,
      change: { api: view.parts.api ?? '', label, to: 'removed' },
      at: 'key',
    });
  }
}

/** The same of a whole API, said where it stood. */
export function apiRemoved(api: string, published: readonly string[], report: Report): void {
  const isWhole = published.includes(UNVERSIONED);
  const what = isWhole ? 'its dates' : 'its versions and their dates';
  report(['api'], {
    rule: 'version-removed',
    message: `this API was published${isWhole ? '' : ` (${published.join(', ')})`} and no policy file describes it any more`,
    hint: `keep ${what}; after ${isWhole ? 'its' : 'their'} sunset ${isWhole ? 'it needs' : 'they need'} no upstream`,
    change: { api, label: api, to: 'removed' },
  });
}
