// Builds the entry of each version in a usage response: dates, calls, exceptions.

import type { UsedVersion } from '../api/usage-answers.ts';
import { successorIn } from '../exchange/linked-versions.ts';
import type { ApiPlan, GatewayPlan, VersionRules } from '../plan/plan.ts';
import { DAY_MS, type EpochMs } from '../policy/contract.ts';
import { assess, type StageInput } from '../policy/lifecycle/assess.ts';
import { type Exception, endsSoon, exceptionInWords } from '../policy/lifecycle/exceptions.ts';
import { phaseAt } from '../policy/lifecycle/phases.ts';
import { hasEnded } from '../policy/lifecycle/retirement.ts';
import { counted } from '../policy/notation.ts';
import type { LedgerStore, UsageFilter } from '../policy/usage/ledger.ts';
import type { Counted } from '../policy/usage/rows.ts';
import { usageVerdict, verdictInWords } from '../policy/usage/verdict.ts';
import type { OperationTally, VersionTally } from '../policy/usage/version-tallies.ts';
import { completeSince, type UsageWindow } from '../policy/usage/window.ts';
import { createSlices } from '../system/time-slices.ts';
import { instantOrNull, instantText } from './answers.ts';
import { type DecisionPorts, decidesOf } from './usage-decisions.ts';

export interface UsedVersionsQuery {
  readonly plan: GatewayPlan;
  readonly moment: StageInput;
  readonly filter: Pick<UsageFilter, 'api' | 'version' | 'consumer'>;
  readonly window: UsageWindow;
  /** When the ledger began to count a version. Not called if the filter names a consumer. */
  readonly beganAt: LedgerStore['beganAt'];
  readonly usageOf: DecisionPorts['usageOf'];
  /** The ledger has deleted calls before this instant. Undefined: it has deleted none. */
  readonly kept: EpochMs | undefined;
}

type VersionVerdict = Pick<UsedVersion, 'verdict' | 'summary' | 'looks'>;

/** Versions that the filter names, deprecated versions, and all others with calls in the ledger. */
export async function usedVersions(
  query: UsedVersionsQuery,
  tallies: readonly VersionTally[],
): Promise<UsedVersion[]> {
  const { plan, filter, moment } = query;
  const called = new Map(tallies.map((tally) => [keyOf(tally.api, tally.version), tally]));
  const entries: UsedVersion[] = [];
  const nextSlice = createSlices();
  for (const api of plan.apis) {
    if (filter.api !== undefined && filter.api !== api.name) continue;
    for (const version of api.versions.values()) {
      if (filter.version !== undefined && filter.version !== version.label) continue;
      const key = keyOf(api.name, version.label);
      const tally = called.get(key);
      called.delete(key);
      const rules = assess(version, moment);
      const isMeant =
        filter.consumer === undefined && (filter.version !== undefined || isDeprecated(rules, moment));
      if (tally !== undefined || isMeant) entries.push(await plannedEntry(query, api, rules, tally));
    }
    await nextSlice();
  }
  return [...entries, ...[...called.values()].map((tally) => unplannedEntry(query, tally))];
}

function isDeprecated(rules: VersionRules, moment: StageInput): boolean {
  return stageOf(rules, moment) === 'deprecated' || deprecatedOperations(rules, moment).length > 0;
}

function deprecatedOperations({ operations }: VersionRules, moment: StageInput): readonly VersionRules[] {
  const list = operations?.list.map((each) => assess(each, moment)) ?? [];
  return list.filter((each) => stageOf(each, moment) === 'deprecated');
}

async function plannedEntry(
  query: UsedVersionsQuery,
  api: ApiPlan,
  rules: VersionRules,
  tally: VersionTally | undefined,
): Promise<UsedVersion> {
  const { moment, filter } = query;
  const { deprecated, sunset, successor } = rules.schedule;
  const exceptions = exceptionsOf(rules).filter(
    ({ consumer }) => filter.consumer === undefined || consumer === filter.consumer,
  );
  const decides = filter.consumer === undefined ? await decidesOf(rules, query) : undefined;
  return {
    api: api.name,
    version: rules.label,
    stage: stageOf(rules, moment),
    deprecated: instantOrNull(deprecated),
    sunset: instantOrNull(sunset),
    successor: successorIn(api, rules, moment) ?? successor ?? null,
    ...countsOf(tally),
    ...(await verdictOn(query, rules, tally)),
    ...(decides !== undefined && { decides }),
    exceptions: exceptions.map((each) => exceptionBody(each, tally?.watched.get(each.consumer), moment.now)),
  };
}

async function verdictOn(
  { moment, filter, window, beganAt, kept }: UsedVersionsQuery,
  rules: VersionRules,
  tally: VersionTally | undefined,
): Promise<VersionVerdict> {
  // Other consumers may call what this one does not.
  if (filter.consumer !== undefined) return { verdict: null, summary: null };
  const phase = phaseAt(rules.phases, moment.now);
  if (hasEnded(phase)) return { verdict: 'ended', summary: `has ended${stillEffective(window, tally)}` };
  const isWhole = phase.stage === 'deprecated';
  const deprecatedRules = isWhole ? [rules] : deprecatedOperations(rules, moment);
  if (deprecatedRules.length === 0)
    return { verdict: 'not_deprecated', summary: `is not deprecated${stillEffective(window, tally)}` };
  const verdict = usageVerdict(tally ?? NOT_CALLED, {
    window,
    beganAt: completeSince(await beganAt({ api: rules.api, version: rules.label }), kept),
    deprecated: Math.max(...deprecatedRules.map(({ schedule }) => schedule.deprecated ?? moment.now)),
  });
  const operations = isWhole ? [] : deprecatedRules.flatMap(({ operation }) => operation ?? []);
  const looks = { since: instantOrNull(verdict.looks.since), because: verdict.looks.because };
  return { verdict: verdict.kind, summary: verdictInWords(verdict, operations), looks };
}

/** For a version that the ledger has and the policies do not. */
function unplannedEntry({ filter, window }: UsedVersionsQuery, tally: VersionTally): UsedVersion {
  const { api, version } = tally;
  const verdict: VersionVerdict =
    filter.consumer === undefined
      ? { verdict: 'not_in_policies', summary: `is in no policy any more${stillEffective(window, tally)}` }
      : { verdict: null, summary: null };
  const unknown = { stage: null, deprecated: null, sunset: null, successor: null, exceptions: [] };
  return { api, version, ...unknown, ...countsOf(tally), ...verdict };
}

function stillEffective({ days }: UsageWindow, tally: VersionTally | undefined): string {
  if (tally === undefined) return '';
  const who = counted(tally.consumers, 'consumer');
  return `; ${counted(tally.calls, 'call')} by ${who} in ${counted(days, 'day')}`;
}

const NOT_CALLED = { consumers: 0, calls: 0 };

function countsOf(tally: VersionTally | undefined) {
  if (tally === undefined)
    return { ...NOT_CALLED, trend: { week: 0, weekBefore: 0 }, lastCall: null, operations: [] };
  const { consumers, calls, trend, lastAt, operations } = tally;
  return { consumers, calls, trend, lastCall: instantText(lastAt), operations: operations.map(operationUse) };
}

function operationUse({ operation, consumers, calls, trend, lastAt }: OperationTally) {
  return { operation: operation ?? null, consumers, calls, trend, lastCall: instantText(lastAt) };
}

function stageOf(rules: VersionRules, { now }: StageInput) {
  return phaseAt(rules.phases, now).stage;
}

function keyOf(api: string, version: string): string {
  return `${api} ${version}`;
}

type ExceptionBody = UsedVersion['exceptions'][number];

/** Includes expired exceptions and those of operations. */
export function exceptionsOf({ exceptions, operations }: VersionRules): readonly Exception[] {
  const all = [...exceptions, ...(operations?.list.flatMap((each) => each.exceptions) ?? [])];
  // An exception from the sunset of the version does not apply to an operation with a sunset of its own.
  const effective = all.filter(({ from }) => from.length > 0);
  return [...new Map(effective.map((each) => [exceptionKey(each), each])).values()];
}

/** `use`: the calls of its consumer to the version. */
function exceptionBody(exception: Exception, use: Counted | undefined, now: EpochMs): ExceptionBody {
  const { consumer, from, until, why, by } = exception;
  return {
    consumer,
    from: [...from],
    until: instantText(until),
    why,
    by,
    calls: use?.calls ?? 0,
    lastCall: use === undefined ? null : instantText(use.lastAt),
    summary: inWords(exception, now),
  };
}

function inWords(exception: Exception, now: EpochMs): string {
  const { consumer, until } = exception;
  const allowed = exceptionInWords(exception);
  if (now >= until) return `${consumer} had ${allowed}: it has expired`;
  const days = Math.floor((until - now) / DAY_MS);
  return `${consumer} has ${allowed}${endsSoon(exception, now) ? `: it ends in ${counted(days, 'day')}` : ''}`;
}

/** Without the phases: an operation inherits the version's exceptions, with phases by its own dates. */
function exceptionKey({ consumer, from, until, why }: Exception): string {
  return JSON.stringify([consumer, from, until, why]);
}
