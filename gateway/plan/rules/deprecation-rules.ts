// Rules about deprecations: notice period, parallel versions, migration guide, body notice.
import type { EpochMs } from '../../policy/contract.ts';
import { dayOf } from '../../policy/notation.ts';
import { dayUntil, monthsAfter, orLater } from '../../sections/schedule/calendar.ts';
import { effectiveSunset } from '../../sections/schedule/redirects.ts';
import { type CheckedVersion, isWritten, type VersionCheck } from '../../sections/view.ts';
import { announcementOf, namedSuccessor, noticeMonths, sunsetPlace } from './subject.ts';

/** OAS-2: 12 months between announcement and effective sunset, 6 for an internal API. An extension counts. */
export const noticePeriod: VersionCheck = (subject, report) => {
  const { label, version, view } = subject;
  const sunset = effectiveSunset(version);
  const announced = announcementOf(version);
  if (sunset === undefined || announced === undefined) return;
  const months = noticeMonths(view);
  const earliest = monthsAfter(announced, months);
  if (sunset >= earliest) return;
  const kind = view.parts.audience === 'internal' ? 'an internal' : 'a public';
  const key = version.announced === undefined ? 'deprecated' : 'announced';
  report(sunsetPlace(subject), {
    rule: 'notice-period',
    message: `${label} ends less than ${months} months after it was ${key} (${dayOf(announced)}): too short for ${kind} API`,
    hint: orLater('sunset', earliest, `${key} ${dayUntil(monthsAfter(sunset, -months))} or earlier`),
  });
};

/** If a successor is named, the successor rules give more exact findings. */
export const parallelVersions: VersionCheck = (subject, report) => {
  const { label, version, at, view } = subject;
  const { deprecated } = version;
  if (deprecated === undefined || namedSuccessor(subject) !== undefined) return;
  // A version that ends with the whole API needs no other version.
  if (deprecated === view.parts.deprecated) return;
  const end = effectiveSunset(version) ?? Number.POSITIVE_INFINITY;
  const gap = firstGap(subject, deprecated, end);
  if (gap === undefined) return;
  report([...at, 'deprecated'], {
    rule: 'parallel-versions',
    message: `${label} is deprecated, and from ${dayOf(gap)} no other version is served`,
    hint: `release a version by ${dayOf(gap)} and name it as successor`,
  });
};

/** The guide is sent as Link rel="deprecation". */
export const migrationGuide: VersionCheck = ({ label, version, at, view }, report) => {
  const missing = version.guide === undefined && !isWritten(view, [...at, 'guide']);
  // Findings of the version cover operations without a date of their own.
  if (!missing || version.deprecated === undefined || !isWritten(view, [...at, 'deprecated'])) return;
  report([...at, 'deprecated'], {
    rule: 'migration-guide',
    message: `${label} is deprecated without a migration guide`,
    hint: 'add guide: and its URL',
  });
};

/** Bodies change only after a deprecation, so `body_notice` without a date has no effect. */
export const bodyNotice: VersionCheck = ({ label, version, at, view }, report) => {
  const isDeprecated = isWritten(view, [...at, 'deprecated']);
  const operations = Object.entries(version.operations ?? {});
  const finding = (subject: string) => ({
    rule: 'body-notice',
    message: `${subject} is never deprecated, so its responses never have the notice`,
    hint: 'add deprecated: and its date, or remove this line',
  });
  const someOperation = operations.some(
    ([name, { body_notice: own }]) =>
      own !== false && isWritten(view, [...at, 'operations', name, 'deprecated']),
  );
  if (version.body_notice === true && !isDeprecated && !someOperation) {
    report([...at, 'body_notice'], finding(label));
  }
  for (const [name, operation] of operations) {
    const there = [...at, 'operations', name];
    if (operation.body_notice === true && !isDeprecated && !isWritten(view, [...there, 'deprecated'])) {
      report([...there, 'body_notice'], finding(`${label} ${name}`));
    }
  }
};

/** The first instant from `from` until `until` at which no other version is served. */
function firstGap({ label, view }: CheckedVersion, from: EpochMs, until: EpochMs): EpochMs | undefined {
  const others = [...view.versions]
    .filter(([other, { released }]) => other !== label && released !== undefined)
    .map(([, version]) => ({ from: version.released ?? 0, until: effectiveSunset(version) ?? Infinity }))
    .sort((a, b) => a.from - b.from);
  let covered = from;
  for (const other of others) if (other.from <= covered) covered = Math.max(covered, other.until);
  return covered < until ? covered : undefined;
}
