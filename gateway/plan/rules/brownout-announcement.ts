// brownout-announcement: callers are told at least 14 days before the first window of a brownout.
// A refusal nobody was told of is an outage.
import { brownoutListsOf, spellInstant } from './brownout-lists.ts';
import { dayUntil } from './calendar.ts';
import type { Rule } from './subject.ts';

const DAY_MS = 86_400_000;
const NOTICE_DAYS = 14;

export const brownoutAnnouncement: Rule = (subject, report) => {
  for (const { at, rules, placed } of brownoutListsOf(subject)) {
    if (placed.kind !== 'windows') continue;
    for (const [index, { announced }] of rules.entries()) {
      const first = placed.windows.find((window) => window.rule === index);
      if (first === undefined || first.from - announced >= NOTICE_DAYS * DAY_MS) continue;
      report([...at, index, 'announced'], {
        rule: 'brownout-announcement',
        message: `announced less than ${NOTICE_DAYS} days before the first window (${spellInstant(first.from)})`,
        hint: `announced ${dayUntil(first.from - NOTICE_DAYS * DAY_MS)} or earlier`,
      });
    }
  }
};
