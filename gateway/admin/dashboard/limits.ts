// The limits of the plan as they are now, lowered ones by their day, and what became of the requests they counted.
// Made for standing-routes.ts; the decisions are read where /metrics reads them.
import { standingOf } from '../../exchange/standing.ts';
import type { GatewayPlan, VersionRules } from '../../plan/plan.ts';
import type { EpochMs } from '../../policy/contract.ts';
import type { OverrideStore } from '../../policy/lifecycle/override.ts';
import { phaseAt } from '../../policy/lifecycle/phases.ts';
import type { Limit, LimitRule } from '../../policy/rate-limit/limit.ts';
import { loweredAt } from '../../policy/rate-limit/lowering.ts';
import { type Readings, sumOf } from './traffic.ts';

export interface LimitPorts {
  readonly plan: () => GatewayPlan;
  readonly now: () => EpochMs;
  readonly overrides: Pick<OverrideStore, 'current'>;
}

const DECISIONS = ['allowed', 'limited', 'shadow_limited', 'degraded'] as const;

export async function limitBodies({ plan, now, overrides }: LimitPorts, metrics: Readings) {
  const at = now();
  const decisions = await metrics.read('sundial_ratelimit_decisions_total');
  const standing = standingOf(plan(), { now: at, overrides: overrides.current() });
  return [...standing].flatMap(({ rules }) =>
    [rules, ...(rules.operations?.list ?? [])].flatMap((each) =>
      (each.limits?.each ?? [])
        .filter((rule) => each === rules || !hasBucketOf(rules, rule))
        .map((rule) => {
          const body = limitBody(each, rule, at);
          const counted = decisions.filter(
            ({ labels }) =>
              labels.api === rules.api && labels.version === rules.label && labels.policy === body.limit,
          );
          const become = DECISIONS.map((kind) => [
            kind,
            sumOf(counted.filter(({ labels }) => labels.decision === kind)),
          ]);
          return { ...body, decisions: Object.fromEntries(become) };
        }),
    ),
  );
}

/** An operation without limits of its own counts in those of its version. */
function hasBucketOf({ limits }: VersionRules, { buckets }: LimitRule): boolean {
  return limits?.each.some((rule) => rule.buckets.active === buckets.active) ?? false;
}

function limitBody(rules: VersionRules, rule: LimitRule, now: EpochMs) {
  const { stage } = phaseAt(rules.phases, now);
  const isFull = stage === 'active' || stage === 'planned';
  const inForce = isFull ? rule.active : loweredAt(rule, now);
  return {
    api: rules.api,
    version: rules.label,
    operation: rules.operation ?? null,
    stage,
    limit: inForce.name,
    ...figures(inForce),
    /** What it is while nothing is deprecated; null where that is the same. */
    full: isFull || inForce.units === rule.active.units ? null : figures(rule.active),
    falls: rule.curve !== undefined,
    by: rule.by,
    cost: rules.limits?.cost ?? 1,
    onStoreFailure: rule.onStoreFailure,
    exact: rule.exact,
    shadow: rule.shadow,
  };
}

function figures({ units, windowMs, burst }: Limit) {
  return { units, windowMs, burst };
}
