// Describes what the usage of a version decides: its freeze and its `retire_when` rule.

import type { UsedVersion } from '../api/usage-answers.ts';
import type { VersionRules } from '../plan/plan.ts';
import type { EpochMs } from '../policy/contract.ts';
import type { StageInput } from '../policy/lifecycle/assess.ts';
import { retirementHoldOf } from '../policy/lifecycle/override.ts';
import {
  judgeRetirement,
  type Retirement,
  type RetireWhen,
  retireWhenInWords,
  type UsageSummary,
  usageInWords,
} from '../policy/lifecycle/retire-when.ts';
import { dateInWords } from '../policy/notation.ts';
import { instantText } from './answers.ts';

export interface DecisionPorts {
  readonly moment: StageInput;
  /** Undefined: counting has not begun or is off. */
  readonly beganAt: (version: { api: string; version: string }) => Promise<EpochMs | undefined>;
  /** Undefined if counting is off. */
  readonly usageOf: (
    version: { api: string; version: string },
    days: number,
  ) => Promise<UsageSummary | undefined>;
}

type UsageDecisions = NonNullable<UsedVersion['decides']>;

/** Undefined for a version without `freeze` and `retire_when`. */
export async function decidesOf(
  rules: VersionRules,
  { moment, beganAt, usageOf }: DecisionPorts,
): Promise<UsageDecisions | undefined> {
  const { freeze, retireWhen: rule } = rules;
  if (freeze === undefined && rule === undefined) return undefined;
  const version = { api: rules.api, version: rules.label };
  const since = await beganAt(version);
  const retirement = rule && judgeRetirement(rule, await usageOf(version, rule.days), moment.now);
  const hold = retirementHoldOf(moment.overrides, rules, moment.now);
  return {
    countedSince: since === undefined ? null : instantText(since),
    freeze: freeze === undefined ? null : instantText(freeze),
    retirement: retirement?.kind ?? null,
    heldUntil: hold === undefined ? null : instantText(hold.until),
    summaries: [
      ...(freeze === undefined ? [] : [freezeInWords(freeze, since, moment.now)]),
      ...(rule === undefined || retirement === undefined ? [] : [retirementInWords(rule, retirement)]),
      ...(hold === undefined ? [] : [`retirement held until ${dateInWords(hold.until)}`]),
    ],
  };
}

function freezeInWords(freeze: EpochMs, since: EpochMs | undefined, now: EpochMs): string {
  if (now < freeze) return `closes to new consumers on ${dateInWords(freeze)}`;
  const closed = `closed to new consumers since ${dateInWords(freeze)}`;
  return since !== undefined && since < freeze
    ? closed
    : `${closed}, but refuses no consumer: earlier calls were not counted`;
}

function retirementInWords(rule: RetireWhen, { kind, usage }: Retirement): string {
  const bound = `retire_when ${retireWhenInWords(rule)}`;
  switch (kind) {
    case 'met':
      return `${bound}: met`;
    case 'exceeded':
      return `${bound}: exceeded by ${usageInWords(usage)}${rule.onExceed === 'hold' ? ', holds the sunset' : ''}`;
    case 'unknown':
      return `${bound}: the ledger has not counted long enough`;
    default:
      return kind satisfies never;
  }
}
