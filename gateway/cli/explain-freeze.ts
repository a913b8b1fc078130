// What usage decides of a request: whether its version takes new consumers, and by what it retires. Rows of `explain`.
// Part of explain-decisions.ts; nobody looks into a ledger, so that what was not passed is assumed.
import type { VersionRules } from '../plan/plan.ts';
import { leaveFrom } from '../policy/lifecycle/exceptions.ts';
import { retireWhenInWords } from '../policy/lifecycle/retire-when.ts';
import { dateInWords } from '../policy/notation.ts';
import type { Decision } from './explain-row.ts';
import type { Judged } from './judge.ts';
import type { KnownAccount } from './known-account.ts';
import type { WrittenLines } from './written-lines.ts';

/** None where nothing is frozen, or nobody is known who could be new. */
export function freezeRows(
  version: VersionRules,
  { consumer, now }: Judged['facts'],
  { firstSeen }: KnownAccount,
  lines: WrittenLines,
): readonly Decision[] {
  const { freeze } = version;
  if (freeze === undefined || consumer === undefined) return [];
  const row = { step: 'freeze', assumed: undefined, origin: lines.freeze(version) };
  if (now < freeze)
    return [{ ...row, value: `from ${dateInWords(freeze)}`, detail: 'new consumers are refused then' }];
  const value = `since ${dateInWords(freeze)}`;
  if (leaveFrom('freeze', version.exceptions, consumer, now) !== undefined)
    return [{ ...row, value, detail: `${consumer.id} has leave` }];
  if (firstSeen === undefined) return [{ ...row, value, detail: '', assumed: 'seen before' }];
  return [{ ...row, value, detail: `${consumer.id} was first seen ${dateInWords(firstSeen)}` }];
}

/** None where it retires whatever is called of it, or has no sunset before it. */
export function retirementRows(
  { retireWhen: rule, schedule: { sunset } }: VersionRules,
  { now }: Judged['facts'],
  origin: Decision['origin'],
): readonly Decision[] {
  if (rule === undefined || sunset === undefined || now >= sunset) return [];
  const detail =
    rule.onExceed === 'hold' ? 'else the sunset is held, for 90 days at most' : 'else with a warning';
  return [{ step: 'retires', value: retireWhenInWords(rule), detail, assumed: undefined, origin }];
}
