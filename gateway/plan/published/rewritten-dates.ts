// Rules sunset-rewritten and dates-rewritten: the published dates of a version must not change.
import type { EpochMs } from '../../policy/contract.ts';
import { announcementOf } from '../../policy/lifecycle/announcements.ts';
import { dayOf } from '../../policy/notation.ts';
import { RULES } from '../../sections/rules/grammar.ts';
import { dayFrom } from '../../sections/schedule/calendar.ts';
import { effectiveSunset } from '../../sections/schedule/redirects.ts';
import { type CheckedVersion, isWritten, type PolicyView, type Report } from '../../sections/view.ts';
import { changeOf, sunsetPlace } from '../rules/subject.ts';
import { datesOf, effectiveEnd, operationPairs } from './published-dates.ts';
import type { PublishedDates } from './record.ts';

export function versionRewritten(older: PublishedDates, subject: CheckedVersion, report: Report): void {
  sunsetRewritten(older, subject, report);
  datesRewritten(older, subject, report);
  operationsRewritten(older, subject, report);
}

/** Compares effective sunsets, so that extensions count on both sides. */
export function sunsetRewritten(older: PublishedDates, subject: CheckedVersion, report: Report): void {
  const published = effectiveEnd(older);
  if (published === undefined || !isSunsetEarlier(older, subject)) return;
  report(sunsetPlace(subject), {
    rule: 'sunset-rewritten',
    message: `the sunset of ${subject.label} was published as ${dayOf(published)} and is now earlier`,
    hint: `sunset ${dayFrom(published)} or later`,
    change: changeOf(subject, 'sunset', effectiveSunset(subject.version)),
  });
}

/** Whether both have a sunset, and the published one is later. */
function isSunsetEarlier(older: PublishedDates, { version }: CheckedVersion): boolean {
  const published = effectiveEnd(older);
  const sunset = effectiveSunset(version);
  return published !== undefined && sunset !== undefined && sunset < published;
}

export function datesRewritten(older: PublishedDates, subject: CheckedVersion, report: Report): void {
  const { label, version, at, view } = subject;
  for (const key of ['released', 'deprecated', 'sunset'] as const) {
    const published = older[key];
    const path = [...at, key];
    if (published === undefined || published === version[key]) continue;
    const gone = version[key] === undefined;
    // A malformed date has its own finding, and sunset-rewritten reports an earlier sunset.
    if (gone && isWritten(view, path)) continue;
    if (key === 'sunset' && isSunsetEarlier(older, subject)) continue;
    report(path, {
      rule: 'dates-rewritten',
      message: `${key} of ${label} was published as ${dayOf(published)} and has been ${gone ? 'removed' : 'changed'}`,
      hint:
        key === 'sunset' && !gone
          ? `keep ${dayOf(published)} and write the new date under extended`
          : `${key}: ${dayOf(published)}`,
      at: gone ? 'key' : 'value',
      change: changeOf(subject, key, version[key]),
      ...(key === 'released' && hasPins(view) && { severity: RULES['dates-rewritten'].exception.severity }),
    });
  }
}

/** Finds published dates that a later announcement would hide. */
export function datesHidden(
  older: PublishedDates,
  subject: CheckedVersion,
  now: EpochMs,
  report: Report,
): void {
  const { label, version, at } = subject;
  const announced = announcementOf(version) ?? now;
  const hidden = (['deprecated', 'sunset'] as const).filter((key) => older[key] !== undefined);
  if (announced <= now || hidden.length === 0) return;
  report([...at, 'announced'], {
    rule: 'dates-rewritten',
    message: `${hidden.join(' and ')} of ${label} were published and are hidden until ${dayOf(announced)}`,
    hint: older.announced === undefined ? 'remove announced' : `announced: ${dayOf(older.announced)}`,
    change: changeOf(subject, 'announced', announced),
  });
}

/** Finds operations with an earlier sunset than the published one, which was their own or that of their version. */
function operationsRewritten(older: PublishedDates, subject: CheckedVersion, report: Report): void {
  const whole = effectiveEnd(older);
  for (const [, own, published] of operationPairs(datesOf(subject.version), older)) {
    const [name, sunset] = own ?? published ?? [''];
    const label = `${subject.label} ${name}`;
    if (own !== undefined) {
      const of = { ...subject, label, version: { sunset }, at: [...subject.at, 'operations', name] };
      sunsetRewritten({ sunset: published?.[1] ?? whole }, of, report);
    }
    // If the version had a sunset, its comparison covers the operation.
    else if (whole === undefined) sunsetRewritten({ sunset }, { ...subject, label }, report);
  }
}

export function hasPins({ parts }: PolicyView): boolean {
  return parts.resolve?.some(({ pin }) => pin !== undefined) ?? false;
}
