// extension-length: an extension moves the sunset by 3 to 6 calendar months.
// Specification, States and transitions; RET-11. One that moves nothing is the matter of sunset-only-later.
import { dayOf } from '../../policy/notation.ts';
import { dayFrom, dayUntil, LAST_DAY, monthsAfter } from './calendar.ts';
import { extensionsOf, type Rule } from './subject.ts';

const SHORTEST_MONTHS = 3;
const LONGEST_MONTHS = 6;

export const extensionLength: Rule = ({ version, at }, report) => {
  for (const { index, to, moves } of extensionsOf(version)) {
    const earliest = monthsAfter(moves, SHORTEST_MONTHS);
    const latest = monthsAfter(moves, LONGEST_MONTHS);
    if (to <= moves || (to >= earliest && to <= latest)) continue;
    const by = to < earliest ? 'less than 3' : 'more than 6';
    report([...at, 'extended', index, 'to'], {
      rule: 'extension-length',
      message: `this extension moves the sunset (${dayOf(moves)}) by ${by} months`,
      hint:
        earliest > LAST_DAY
          ? 'take it out'
          : `to ${dayFrom(earliest)} or later, ${dayUntil(Math.min(latest, LAST_DAY))} at most`,
    });
  }
};
