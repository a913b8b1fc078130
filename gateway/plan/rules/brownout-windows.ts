// Rules brownout-windows and brownout-announcement: where windows may lie, and how early they are announced.
import type { BrownoutRule, BrownoutWindow } from '../../policy/lifecycle/brownout-rule.ts';
import { type BrownoutSpan, MAX_WINDOWS } from '../../policy/lifecycle/brownout-windows.ts';
import { dayUntil } from '../../sections/schedule/calendar.ts';
import type { VersionCheck } from '../../sections/view.ts';
import { brownoutListsOf, formatInstant, MAX_FILE_WINDOWS } from './brownout-lists.ts';

const RULE = 'brownout-windows';

export const brownoutWindows: VersionCheck = (subject, report) => {
  for (const { at, rules, placed } of brownoutListsOf(subject)) {
    if (placed.kind === 'undated') {
      const message = `brownouts need ${placed.missing}: their windows lie between deprecation and sunset`;
      report(at, { rule: RULE, message, at: 'key' });
      continue;
    }
    if (placed.kind === 'too-many') {
      // This is not a rule that can be switched off, because every reload would have to expand the windows.
      report(at, {
        rule: 'brownouts',
        message: `with this list, the file has more than ${MAX_FILE_WINDOWS} different brownout windows`,
        hint: 'write fewer windows, or give operations that pause together the same list',
        at: 'key',
      });
      continue;
    }
    for (const [index, rule] of rules.entries()) {
      const wrong = outside(rule, placed.span);
      if (wrong !== undefined) report([...at, index, ...wrong.at], { rule: RULE, message: wrong.message });
      else if (!placed.windows.some((window) => window.rule === index))
        report([...at, index], {
          rule: RULE,
          message: 'this brownout has no window between the deprecation and the sunset',
        });
    }
    if (placed.windows.length > MAX_WINDOWS) {
      const message = `more than ${MAX_WINDOWS} windows: write fewer windows, or an earlier sunset`;
      report(at, { rule: RULE, message, at: 'key' });
      continue;
    }
    const overlap = firstOverlap(placed.windows);
    if (overlap !== undefined) report([...at, ...overlap.at], { rule: RULE, message: overlap.message });
  }
};

type WindowFinding = { readonly at: readonly (string | number)[]; readonly message: string };

const DAY_MS = 86_400_000;
const NOTICE_DAYS = 14;

/** Consumers learn of a brownout at least 14 days before its first window. */
export const brownoutAnnouncement: VersionCheck = (subject, report) => {
  for (const { at, rules, placed } of brownoutListsOf(subject)) {
    if (placed.kind !== 'windows') continue;
    for (const [index, { announced }] of rules.entries()) {
      const first = placed.windows.find((window) => window.rule === index);
      if (first === undefined || first.from - announced >= NOTICE_DAYS * DAY_MS) continue;
      report([...at, index, 'announced'], {
        rule: 'brownout-announcement',
        message: `announced less than ${NOTICE_DAYS} days before the first window (${formatInstant(first.from)})`,
        hint: `announced ${dayUntil(first.from - NOTICE_DAYS * DAY_MS)} or earlier`,
      });
    }
  }
};

function outside({ times }: BrownoutRule, span: BrownoutSpan): WindowFinding | undefined {
  const deprecated = formatInstant(span.deprecated);
  const sunset = formatInstant(span.sunset);
  if (times.kind === 'phase') {
    const begin = span.sunset - times.beforeSunset;
    if (begin < span.deprecated) {
      return {
        at: ['before_sunset'],
        message: `before_sunset begins ${formatInstant(begin)}, before deprecated (${deprecated})`,
      };
    }
    if (times.beat !== undefined || times.lasts <= times.beforeSunset) return undefined;
    return { at: ['for'], message: `a window of this length ends after the sunset (${sunset})` };
  }
  const { from = span.deprecated, until = span.sunset } = times;
  if (until <= from) return { at: [], message: `an empty window: it ends ${formatInstant(until)}` };
  if (from < span.deprecated) {
    return {
      at: ['from'],
      message: `a window from ${formatInstant(from)} begins before deprecated (${deprecated})`,
    };
  }
  if (until <= span.sunset) return undefined;
  return {
    at: [],
    message: `a window until ${formatInstant(until)} ends after the sunset (${sunset})`,
  };
}

/** Only the first overlap: repeated windows repeat it. */
function firstOverlap(windows: readonly BrownoutWindow[]): WindowFinding | undefined {
  for (const [place, { from, rule }] of windows.entries()) {
    const before = windows[place - 1];
    if (before === undefined || before.until <= from) continue;
    const message = `the window at ${formatInstant(from)} begins before the window at ${formatInstant(before.from)} ends`;
    return { at: [rule], message };
  }
  return undefined;
}
