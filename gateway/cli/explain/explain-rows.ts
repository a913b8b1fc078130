// Rows of `explain` for brownouts, exceptions, freezes, retirement by usage and limits.
import type { VersionRules } from '../../plan/plan.ts';
import type { Origin } from '../../plan/read/document.ts';
import { isRefusedByBrownout } from '../../policy/lifecycle/brownout-refusal.ts';
import type { BrownoutWindow } from '../../policy/lifecycle/brownout-rule.ts';
import { exceptionFrom } from '../../policy/lifecycle/exceptions.ts';
import { retireWhenInWords } from '../../policy/lifecycle/retire-when.ts';
import { dateInWords } from '../../policy/notation.ts';
import type { Quota } from '../../policy/rate-limit/limit.ts';
import type { JudgedRequest } from '../judge.ts';
import type { KnownAccount } from '../known-account.ts';
import { perWindow } from './decision-words.ts';
import type { PolicyLines } from './policy-lines.ts';

export interface DecisionRow {
  readonly step: string;
  readonly value: string;
  readonly detail: string;
  /** An assumption about something that was not given. */
  readonly assumed: string | undefined;
  readonly origin: Origin | undefined;
}

type BrownoutRequest = Pick<JudgedRequest, 'facts' | 'view'>;

interface BrownoutShare {
  readonly share?: string;
  readonly drawn?: string;
  readonly assumed?: string;
}

export function brownoutRow(
  version: VersionRules,
  window: BrownoutWindow,
  request: BrownoutRequest,
  lines: PolicyLines,
): DecisionRow {
  const isOpen = window.from <= request.facts.now;
  const { share, drawn, assumed }: BrownoutShare = isOpen
    ? draw(version, window, request)
    : shareOf(version, window);
  const span = `${dateInWords(window.from)} to ${dateInWords(window.until)}`;
  return {
    step: 'brownout',
    value: isOpen ? 'now' : 'to come',
    detail: [span, share, drawn].filter((each) => each !== undefined).join(', '),
    assumed,
    origin: lines.brownout(version, window.rule),
  };
}

function shareOf({ access }: VersionRules, { share }: BrownoutWindow): BrownoutShare {
  if (share === undefined) return {};
  return {
    share: `for ${Math.round(share * 100)}% of ${access.kind === 'public' ? 'addresses' : 'consumers'}`,
  };
}

function draw(
  version: VersionRules,
  window: BrownoutWindow,
  { facts, view }: BrownoutRequest,
): BrownoutShare {
  const { consumer, now } = facts;
  const row = shareOf(version, window);
  if (row.share === undefined || exceptionFrom('brownouts', version.exceptions, consumer, now)) return row;
  const isMet = isRefusedByBrownout(window, version, now, { consumer, clientAddress: view.clientAddress });
  const among = `is${isMet ? '' : ' not'} among them`;
  if (consumer !== undefined) return { ...row, drawn: `${consumer.id} ${among}` };
  return version.access.kind === 'public' ? { ...row, assumed: `the address ${among}` } : row;
}

/** Exceptions of this consumer that have not expired, whether or not they have an effect now. */
export function exceptionRows(
  { exceptions }: VersionRules,
  { consumer, now }: JudgedRequest['facts'],
  line: (index: number) => DecisionRow['origin'],
): readonly DecisionRow[] {
  return exceptions.flatMap((each, index) =>
    each.consumer !== consumer?.id || each.until <= now
      ? []
      : {
          step: 'exception',
          value: each.from.join(', '),
          detail: `${each.consumer} has an exception until ${dateInWords(each.until)}: ${each.why}`,
          assumed: undefined,
          origin: line(index),
        },
  );
}

/** None if nothing is frozen or the caller is anonymous. */
export function freezeRows(
  version: VersionRules,
  { consumer, now }: JudgedRequest['facts'],
  { firstSeen }: KnownAccount,
  lines: PolicyLines,
): readonly DecisionRow[] {
  const { freeze } = version;
  if (freeze === undefined || consumer === undefined) return [];
  const row = { step: 'freeze', assumed: undefined, origin: lines.key(version, 'freeze') };
  if (now < freeze)
    return [{ ...row, value: `from ${dateInWords(freeze)}`, detail: 'new consumers are refused then' }];
  const value = `since ${dateInWords(freeze)}`;
  if (exceptionFrom('freeze', version.exceptions, consumer, now) !== undefined)
    return [{ ...row, value, detail: `${consumer.id} has an exception` }];
  if (firstSeen === undefined) return [{ ...row, value, detail: '', assumed: 'seen before' }];
  return [{ ...row, value, detail: `${consumer.id} was first seen ${dateInWords(firstSeen)}` }];
}

/** None if retirement does not depend on usage, or if no sunset is ahead. */
export function retirementRows(
  { retireWhen: rule, schedule: { sunset } }: VersionRules,
  { now }: JudgedRequest['facts'],
  origin: DecisionRow['origin'],
): readonly DecisionRow[] {
  if (rule === undefined || sunset === undefined || now >= sunset) return [];
  const detail =
    rule.onExceed === 'hold' ? 'else the sunset is held, for 90 days at most' : 'else with a warning';
  return [{ step: 'retires', value: retireWhenInWords(rule), detail, assumed: undefined, origin }];
}

export function limitRows(
  version: VersionRules,
  quotas: readonly Quota[],
  lines: Pick<PolicyLines, 'limit' | 'key'>,
): readonly DecisionRow[] {
  const cost = version.limits?.cost ?? 1;
  const rows = quotas.map(({ limit, rule }): DecisionRow => {
    const exactly = limit.algorithm === 'sliding-log' ? ', in any window' : '';
    const burst = limit.burst === limit.units ? '' : `, ${limit.burst} at once`;
    const shadow = rule.shadow ? ', only counted: shadow' : '';
    return {
      step: 'limit',
      value: perWindow(limit),
      detail: `limit ${limit.name}, by ${rule.by}${burst}${exactly}${shadow}`,
      assumed: 'nothing counted yet',
      origin: lines.limit(version, limit),
    };
  });
  if (cost === 1) return rows;
  const detail = quotas.length === 1 ? 'units of the limit' : 'units of each limit';
  return [
    ...rows,
    { step: 'cost', value: String(cost), detail, assumed: undefined, origin: lines.key(version, 'cost') },
  ];
}
