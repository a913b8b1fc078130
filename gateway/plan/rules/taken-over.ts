// taken-over: what a file says of the end of its API as a whole holds for some version of it.
// A guide or a page that no version needs waits for a later one; a date that nothing ends by is a mistake.
import type { PolicyView, Report } from '../check/views.ts';
import { isTakenOver, ownInstead } from '../inherited.ts';
import { isMap, valueAt } from '../read/values.ts';

const ANNOUNCED_TO_ALL = [
  'announced',
  'deprecated',
  'sunset',
  'extended',
  'retired',
  'forgotten',
  'exceptions',
  'brownouts',
  'freeze',
  'retire_when',
  'maintenance',
] as const;

export function takenOver({ document, labels }: PolicyView, report: Report): void {
  // What is no map may have been meant to take everything over.
  const areMaps = labels.every((label) => isMap(valueAt(document.value, ['versions', label])));
  if (labels.length === 0 || !areMaps) return;
  for (const key of ANNOUNCED_TO_ALL) {
    if (!document.has([key]) || labels.some((label) => isTakenOver(document, label, key))) continue;
    report([key], {
      rule: 'taken-over',
      message: `${key} does nothing here: every version says ${ownInstead(key).join(' or ')} of its own`,
      hint: 'write it in the version it is meant for, or take it out',
      at: 'key',
    });
  }
}
