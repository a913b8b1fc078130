// Rule pins-rewritten: a new list of versions must not change the version of accounts from past days.
import type { EpochMs } from '../../policy/contract.ts';
import { dayOf } from '../../policy/notation.ts';
import { compareLabels } from '../../policy/versioning/label.ts';
import { choosePin } from '../../policy/versioning/pin.ts';
import type { DateMatch, Label } from '../../policy/versioning/resolution.ts';
import { createResolutionRules } from '../../policy/versioning/rules.ts';
import { RULES } from '../../sections/rules/grammar.ts';
import type { PolicyView, Report } from '../../sections/view.ts';
import { isForgotten } from './published-dates.ts';
import type { PublishedDates } from './record.ts';

type Versions = ReadonlyMap<Label, Pick<PublishedDates, 'released' | 'forgotten'>>;

const BEFORE_ALL_VERSIONS = '0001-01-01';

/** Rule dates-rewritten reports versions that are in both files with other dates. */
export function pinsRewritten(past: Versions, view: PolicyView, now: EpochMs, report: Report): void {
  const pin = view.parts.resolve?.flatMap((entry) => entry.pin ?? [])[0];
  if (pin?.created === undefined) return;
  const { match = 'floor' } = pin;
  const [then, by] = [accountsBy(past, match, now), accountsBy(view.versions, match, now)];
  const reported = new Set<string>();
  for (const day of daysOf(past, view.versions, dayOf(now))) {
    const [was, is] = [then(day), by(day)];
    const isNew = is !== undefined && !past.has(is);
    const isGone = was !== undefined && !view.versions.has(was) && !isForgotten(past.get(was) ?? {}, now);
    if (was === is || !(isNew || isGone) || reported.has(`${was} ${is}`)) continue;
    reported.add(`${was} ${is}`);
    const since = day === BEFORE_ALL_VERSIONS ? 'before any version' : `on ${day}`;
    report(isNew ? ['versions', is] : ['versions'], {
      rule: 'pins-rewritten',
      message: `an account created ${since} is on ${was ?? 'the default'} and would be moved to ${is ?? 'the default'}`,
      hint: isNew ? 'name a new version by a future day' : `keep ${was} and its dates`,
      at: 'key',
      // A new latest version moves only the accounts from the last few days.
      ...(isNew &&
        [...past.keys()].every((label) => compareLabels(label, is) < 0) && {
          severity: RULES['pins-rewritten'].exception.severity,
        }),
    });
  }
}

/** The version of an account by the day it was created, as a request would resolve it. */
function accountsBy(versions: Versions, match: DateMatch, now: EpochMs): (day: string) => Label | undefined {
  const wasReleased = (label: Label, at: EpochMs) =>
    (versions.get(label)?.released ?? Number.POSITIVE_INFINITY) <= at;
  const isOut = (label: Label) => wasReleased(label, now);
  const moment = { now, isReleased: isOut, isServed: isOut, mayAnswer: isOut, wasReleased };
  const rules = createResolutionRules({
    labels: [...versions.keys()],
    header: undefined,
    default: undefined,
    pin: { account: undefined, created: 'created', match },
  });
  return (day) => {
    const choice = choosePin(rules, undefined, day, moment);
    return choice.kind === 'none' ? undefined : choice.label;
  };
}

/** Every past day from which accounts get another version. */
function daysOf(past: Versions, present: Versions, today: string): readonly string[] {
  const days = [...past, ...present].flatMap(([label, { released }]) =>
    released === undefined ? [label] : [label, dayOf(released)],
  );
  return [...new Set([BEFORE_ALL_VERSIONS, ...days])].filter((day) => day < today).sort();
}
