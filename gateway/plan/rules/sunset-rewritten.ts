// sunset-rewritten: callers plan by the sunset they were told; it is never moved to an earlier day.
// Compares the sunsets in force, so that extensions count on both sides.
import { dayOf } from '../../policy/notation.ts';
import type { Report } from '../check/views.ts';
import type { VersionParts } from '../grammar/policy-grammar.ts';
import { effectiveSunset } from '../redirects.ts';
import { dayFrom } from './calendar.ts';
import { changeOf, type Subject, sunsetPlace } from './subject.ts';

export function sunsetRewritten(older: VersionParts, subject: Subject, report: Report): void {
  if (!isSunsetEarlier(older, subject.version)) return;
  const published = effectiveSunset(older) ?? Number.POSITIVE_INFINITY;
  report(sunsetPlace(subject), {
    rule: 'sunset-rewritten',
    message: `the sunset of ${subject.label} was published as ${dayOf(published)} and is now earlier`,
    hint: `sunset ${dayFrom(published)} or later`,
    change: changeOf(subject, 'sunset', effectiveSunset(subject.version)),
  });
}

/** Whether both have a sunset, and callers were told a later one. */
export function isSunsetEarlier(older: VersionParts, newer: VersionParts): boolean {
  const published = effectiveSunset(older);
  const sunset = effectiveSunset(newer);
  return published !== undefined && sunset !== undefined && sunset < published;
}
