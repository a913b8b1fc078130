// The rules that need a past: a version as written now against the same version as it was published.
// The past is whatever the caller has of it: an older folder of files.
import type { EpochMs } from '../../policy/contract.ts';
import { UNVERSIONED } from '../../policy/versioning/resolution.ts';
import type { PolicyView, Report } from '../check/views.ts';
import type { VersionParts } from '../grammar/policy-grammar.ts';
import { versionsGained, versionsLost } from './change-of-form.ts';
import { datesRewritten } from './dates-rewritten.ts';
import { pinsRewritten } from './pins-rewritten.ts';
import { type Subject, subjectOf } from './subject.ts';
import { sunsetRewritten } from './sunset-rewritten.ts';
import { versionRemoved } from './version-removed.ts';

export type PastVersions = ReadonlyMap<string, VersionParts>;

/** `now`: versions that were only planned may change and go; a version once released was published. */
export function checkPast(past: PastVersions, view: PolicyView, now: EpochMs, report: Report): void {
  for (const [label, version] of view.versions) {
    const older = past.get(label);
    if (older === undefined || !wasPublished(older, now)) continue;
    const subject = subjectOf(label, version, view);
    sunsetRewritten(older, subject, report);
    datesRewritten(older, subject, report);
    operationsRewritten(older, subject, report);
  }
  const whole = past.get(UNVERSIONED);
  if (whole !== undefined) {
    // It lives on in the versions it has by now, and nobody was pinned to any.
    if (!view.unversioned && wasPublished(whole, now)) versionsGained(whole, view, report);
    return;
  }
  const published = publishedOf(past, now);
  versionRemoved(published, view, report);
  versionsLost(new Map([...past].filter(([label]) => published.includes(label))), view, report);
  if (published.length > 0) pinsRewritten(past, view, now, report);
}

/** An operation with a sunset of its own was promised until then, whatever its version says. */
function operationsRewritten(
  older: VersionParts,
  { label, version, at, view }: Subject,
  report: Report,
): void {
  for (const [name, { sunset }] of Object.entries(version.operations ?? {})) {
    const published = older.operations?.[name];
    if (published === undefined) continue;
    const subject = { label: `${label} ${name}`, version: { sunset }, at: [...at, 'operations', name], view };
    sunsetRewritten({ sunset: published.sunset }, subject, report);
  }
}

/** Labels of versions that callers may know of; an API without versions counts once it was to end. */
export function publishedOf(past: PastVersions, now: EpochMs): readonly string[] {
  return [...past].flatMap(([label, version]) => (wasPublished(version, now) ? [label] : []));
}

function wasPublished({ released, deprecated, sunset, forgotten }: VersionParts, now: EpochMs): boolean {
  if (released === Number.NEGATIVE_INFINITY && deprecated === undefined && sunset === undefined) return false;
  return released !== undefined && released <= now && !(forgotten !== undefined && forgotten <= now);
}
