// extension-announcement: callers who hurry to make a date learn of a later one at least 3 months before it.
// Specification, States and transitions; RET-11. Held against the sunset that the extension moves.
import { dayOf } from '../../policy/notation.ts';
import { dayUntil, monthsAfter } from './calendar.ts';
import { extensionsOf, type Rule } from './subject.ts';

const MONTHS_BEFORE = 3;

export const extensionAnnouncement: Rule = ({ version, at }, report) => {
  for (const { index, announced, moves } of extensionsOf(version)) {
    const latest = monthsAfter(moves, -MONTHS_BEFORE);
    // One that comes after the sunset is an error of its own: what is gone stays gone.
    if (announced <= latest || announced >= moves) continue;
    report([...at, 'extended', index, 'announced'], {
      rule: 'extension-announcement',
      message: `announced less than 3 months before the sunset it moves (${dayOf(moves)})`,
      hint: `announced ${dayUntil(latest)} or earlier`,
    });
  }
};
