// Every API and version of a plan that is not forgotten, as it stands at a moment; and how a target stands.

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
  /** With the dates as overrides leave them. */
  readonly rules: VersionRules;
  readonly stage: Stage;
  /** Whether a pause holds its brownouts and its retirement; undefined where there is none to hold. */
  readonly paused: boolean | undefined;
  /** Whether the guard holds its retirement; undefined where it is not looked after. */
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

/** A version and its operations as their announced dates have them: whom a pause holds stays deprecated. */
export function* phasesOf(version: VersionRules, now: EpochMs): Iterable<readonly [VersionRules, Phase]> {
  for (const declared of [version, ...(version.operations?.list ?? [])]) {
    const rules = knownAt(declared, now);
    yield [rules, phaseAt(rules.phases, now)];
  }
}

/** What its requests count against now, operations included, each by the name that its stage gives it. */
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

/** Each API by its name, with the stage of its most alive version. */
export function* apiStages(plan: GatewayPlan, moment: StageInput): Iterable<readonly [string, Stage]> {
  for (const { name, versions } of plan.apis) {
    const lives = [...versions.values()].map((version) => assess(version, moment));
    const remembered = lives.filter(({ schedule }) => !isForgotten(schedule, moment.now));
    if (remembered.length > 0) yield [name, stageOfApi(remembered, moment.now)];
  }
}

interface TargetName {
  readonly upstream: string;
  /** Its address as the policy file has it. */
  readonly target: string;
}

/** The calls to a target in the last 60 seconds, without those that were given up for another reason. */
export interface RecentHealth {
  readonly answered: number;
  readonly failed: number;
  /** For how long at least half of them have failed; undefined: they have not. */
  readonly failingMs: number | undefined;
  /** The last failure since the start, however long ago. */
  readonly last: { readonly error: FaultCode; readonly agoMs: number } | undefined;
}

export interface TargetHealth extends TargetName {
  /** Undefined where neither health checks nor a breaker watch it. */
  readonly up: boolean | undefined;
  readonly recent: RecentHealth;
}

/** A target has gone out of service, or is back in it, as far as `by` is concerned. */
export interface TargetChange extends TargetName {
  readonly up: boolean;
  readonly by: 'health' | 'breaker';
  /** What the check that decided it found; undefined where it was good, and of a breaker. */
  readonly why: string | undefined;
}
