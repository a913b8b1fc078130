// Facts about a version that several rules use: its change, its announcement, its successor.
import type { EpochMs } from '../../policy/contract.ts';
import type { VersionParts } from '../../sections/policy-file.ts';
import { redirectOf } from '../../sections/schedule/redirects.ts';
import type { CheckedVersion, PolicyView } from '../../sections/view.ts';
import type { PublishedChange } from '../published/record.ts';
import type { Path } from '../read/document.ts';

/** The change that a finding reports, for `sundial accept`. */
export function changeOf(
  { label, view }: CheckedVersion,
  key: string,
  to: EpochMs | undefined,
): PublishedChange {
  const instant = to === undefined ? 'removed' : Temporal.Instant.fromEpochMilliseconds(to).toString();
  return { api: view.parts.api ?? '', label, to: `${key} ${instant}` };
}

/** The path of the effective sunset. */
export function sunsetPlace({ at, version }: Pick<CheckedVersion, 'at' | 'version'>): Path {
  const last = (version.extended?.length ?? 0) - 1;
  return last < 0 ? [...at, 'sunset'] : [...at, 'extended', last, 'to'];
}

/** Default: the deprecation. */
export function announcementOf({ announced, deprecated }: VersionParts): EpochMs | undefined {
  return announced ?? deprecated;
}

/** Least months between announcement and sunset (specification, Versioning 6). */
export function noticeMonths({ parts }: PolicyView): 6 | 12 {
  return parts.audience === 'internal' ? 6 : 12;
}

export interface Successor {
  readonly label: string;
  readonly version: VersionParts;
  readonly place: Path;
}

/** The version named as `successor`. Undefined if it is missing, not declared, or the version itself. */
export function namedSuccessor(subject: CheckedVersion): Successor | undefined {
  return declared(subject, subject.version.successor, [...subject.at, 'successor']);
}

/** The target of `after: { redirect }`, with the same conditions. */
export function redirectTarget(subject: CheckedVersion): Successor | undefined {
  return declared(subject, redirectOf(subject.version), [...subject.at, 'after', 'redirect']);
}

function declared(
  { label, view }: CheckedVersion,
  to: string | undefined,
  place: Path,
): Successor | undefined {
  const version = to === undefined || to === label ? undefined : view.versions.get(to);
  return to === undefined || version === undefined ? undefined : { label: to, version, place };
}
