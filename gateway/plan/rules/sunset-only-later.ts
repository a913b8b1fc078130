// sunset-only-later: an extension to an earlier date, or to the same, takes away time that was promised.
// Each extension is held against the sunset it moves.
import { dayOf } from '../../policy/notation.ts';
import { extensionsOf, type Rule } from './subject.ts';

const DAY_MS = 86_400_000;

export const sunsetOnlyLater: Rule = ({ version, at }, report) => {
  for (const { index, to, moves } of extensionsOf(version)) {
    if (to > moves) continue;
    report([...at, 'extended', index, 'to'], {
      rule: 'sunset-only-later',
      message: `an extension to ${dayOf(to)} is not after the sunset it moves (${dayOf(moves)})`,
      hint: `to ${dayOf(moves + DAY_MS)} or later`,
    });
  }
};
