// Rules about the entries of `extended`, each compared with the sunset that it moves.
import { dayOf } from '../../policy/notation.ts';
import { dayFrom, dayUntil, LAST_DAY, monthsAfter } from '../../sections/schedule/calendar.ts';
import { extensionsOf } from '../../sections/schedule/redirects.ts';
import type { VersionCheck } from '../../sections/view.ts';

const DAY_MS = 86_400_000;

/** An extension must not repeat the sunset that it moves, or make it earlier. */
export const sunsetOnlyLater: VersionCheck = ({ version, at }, report) => {
  for (const { index, to, moves } of extensionsOf(version)) {
    if (to > moves) continue;
    report([...at, 'extended', index, 'to'], {
      rule: 'sunset-only-later',
      message: `an extension to ${dayOf(to)} is not after the sunset it moves (${dayOf(moves)})`,
      hint: `write ${dayOf(moves + DAY_MS)} or later`,
    });
  }
};

const SHORTEST_MONTHS = 3;
const LONGEST_MONTHS = 6;

/** By 3 to 6 calendar months. Rule sunset-only-later reports extensions that move nothing. */
export const extensionLength: VersionCheck = ({ version, at }, report) => {
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
          ? 'remove it'
          : `write a date between ${dayFrom(earliest)} and ${dayUntil(Math.min(latest, LAST_DAY))}`,
    });
  }
};

const MONTHS_BEFORE = 3;

/** At least 3 months before the sunset that it moves: until then, consumers plan with that date. */
export const extensionAnnouncement: VersionCheck = ({ version, at }, report) => {
  for (const { index, announced, moves } of extensionsOf(version)) {
    const latest = monthsAfter(moves, -MONTHS_BEFORE);
    // An announcement after the sunset is an error of its own: a retired version stays retired.
    if (announced <= latest || announced >= moves) continue;
    report([...at, 'extended', index, 'announced'], {
      rule: 'extension-announcement',
      message: `announced less than 3 months before the sunset it moves (${dayOf(moves)})`,
      hint: `announced ${dayUntil(latest)} or earlier`,
    });
  }
};
