// dates-rewritten: the dates of a published version are history, and what was built on them stays true.
// A later sunset is written as an extension, beside the date first published. Where accounts are pinned it is an error
// to move a release: who was made on a day between would change versions without asking.
import { dayOf } from '../../policy/notation.ts';
import { isWritten, type PolicyView, type Report } from '../check/views.ts';
import type { VersionParts } from '../grammar/policy-grammar.ts';
import { changeOf, type Subject } from './subject.ts';
import { isSunsetEarlier } from './sunset-rewritten.ts';

export function datesRewritten(older: VersionParts, subject: Subject, report: Report): void {
  const { label, version, at, view } = subject;
  for (const key of ['released', 'deprecated', 'sunset'] as const) {
    const published = older[key];
    const path = [...at, key];
    if (published === undefined || published === version[key]) continue;
    const gone = version[key] === undefined;
    // A malformed date has been reported as such; an earlier sunset is the matter of sunset-rewritten.
    if (gone && isWritten(view, path)) continue;
    if (key === 'sunset' && isSunsetEarlier(older, version)) continue;
    report(path, {
      rule: 'dates-rewritten',
      message: `${key} of ${label} was published as ${dayOf(published)} and has been ${gone ? 'removed' : 'changed'}`,
      hint:
        key === 'sunset' && !gone
          ? `keep ${dayOf(published)} and write the new date under extended`
          : `${key}: ${dayOf(published)}`,
      at: gone ? 'key' : 'value',
      change: changeOf(subject, key, version[key]),
      ...(key === 'released' && hasPins(view) && { severity: 'error' }),
    });
  }
}

/** Whether accounts stay on the version they got. */
export function hasPins({ parts }: PolicyView): boolean {
  return parts.resolve?.some(({ pin }) => pin !== undefined) ?? false;
}
