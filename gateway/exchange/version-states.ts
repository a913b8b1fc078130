// The state of every API, version and target at a moment, for metrics and status pages.

import type { GatewayPlan, VersionRules } from '../plan/plan.ts';
import type { EpochMs } from '../policy/contract.ts';
import { knownAt } from '../policy/lifecycle/announcements.ts';
import { hasDates, stageOfApi } from '../policy/lifecycle/api-life.ts';
import { assess, effectivePause, type StageInput } from '../policy/lifecycle/assess.ts';
import { retirementHoldOf } from '../policy/lifecycle/override.ts';
import { phaseAt } from '../policy/lifecycle/phases.ts';
import { isForgotten } from '../policy/lifecycle/retirement.ts';
import type { Phase, Stage } from '../policy/lifecycle/schedule.ts';
import type { LimitRule } from '../policy/rate-limit/limit.ts';
import type { FaultCode } from './directive.ts';

export interface VersionState {
  /** Its dates include the overrides. */
  readonly rules: VersionRules;
  readonly stage: Stage;
  /** Whether a pause holds brownouts and retirement. Undefined if the version has no dates. */
  readonly paused: boolean | undefined;
  /** Whether a guard holds the retirement. Undefined if the version has no guard. */
  readonly held: boolean | undefined;
}

export function* versionStates(plan: GatewayPlan, moment: StageInput): Iterable<VersionState> {
  for (const api of plan.apis) {
    for (const version of api.versions.values()) {
      const rules = assess(version, moment);
      if (isForgotten(rules.schedule, moment.now)) continue;
      const { stage } = phaseAt(rules.phases, moment.now);
      const paused = hasDates(version.schedule) ? effectivePause(version, moment) !== undefined : undefined;
      const hold = retirementHoldOf(moment.overrides, version, moment.now);
      const held = version.retireWhen === undefined ? undefined : hold !== undefined;
      yield { rules, stage, paused, held };
    }
  }
}

/** A version and its operations by the announced dates. A paused version stays deprecated. */
export function* phasesOf(version: VersionRules, now: EpochMs): Iterable<readonly [VersionRules, Phase]> {
  for (const declared of [version, ...(version.operations?.list ?? [])]) {
    const rules = knownAt(declared, now);
    yield [rules, phaseAt(rules.phases, now)];
  }
}

/** The limits that count requests to the version now, operations included, with the name for the current stage. */
export function* limitsInForce(
  version: VersionRules,
  now: EpochMs,
): Iterable<readonly [name: string, rule: LimitRule]> {
  for (const [{ limits }, { stage }] of phasesOf(version, now)) {
    const isFull = stage === 'active' || stage === 'planned';
    for (const rule of limits?.each ?? []) yield [(isFull ? rule.active : rule.deprecated).name, rule];
  }
}

export function rememberedApis(plan: GatewayPlan, moment: StageInput): Pick<GatewayPlan, 'apis'> {
  const isRemembered = (version: VersionRules): boolean =>
    !isForgotten(assess(version, moment).schedule, moment.now);
  return { apis: plan.apis.filter(({ versions }) => [...versions.values()].some(isRemembered)) };
}

/** Each API by name, with its stage as a whole. */
export function* apiStages(plan: GatewayPlan, moment: StageInput): Iterable<readonly [string, Stage]> {
  for (const { name, versions } of plan.apis) {
    const assessed = [...versions.values()].map((version) => assess(version, moment));
    const remembered = assessed.filter(({ schedule }) => !isForgotten(schedule, moment.now));
    if (remembered.length > 0) yield [name, stageOfApi(remembered, moment.now)];
  }
}

interface TargetName {
  readonly upstream: string;
  readonly target: string;
}

/** The calls to a target in the last 60 seconds, without calls aborted for another reason. */
export interface RecentHealth {
  readonly answered: number;
  readonly failed: number;
  /** Since when at least half of them fail, in milliseconds. Undefined if they do not. */
  readonly failingMs: number | undefined;
  /** The last failure since the start of the process. */
  readonly last: { readonly error: FaultCode; readonly agoMs: number } | undefined;
}

export interface TargetHealth extends TargetName {
  /** Undefined if neither health checks nor a circuit breaker watch the target. */
  readonly up: boolean | undefined;
  readonly recent: RecentHealth;
}

export interface TargetChange extends TargetName {
  readonly up: boolean;
  readonly by: 'health' | 'breaker';
  /** The finding of the health check. Undefined if it succeeded, and for a circuit breaker. */
  readonly why: string | undefined;
}
