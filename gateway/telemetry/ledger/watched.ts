// Which requests the ledger counts, and which versions have such requests: deprecated and frozen ones.
import type { RefusalReason } from '../../exchange/directive.ts';
import type { ExchangeFacts } from '../../exchange/facts.ts';
import { phasesOf } from '../../exchange/version-states.ts';
import type { GatewayPlan, VersionRules } from '../../plan/plan.ts';
import type { EpochMs } from '../../policy/contract.ts';
import type { Stage } from '../../policy/lifecycle/schedule.ts';
import type { UsageVersion } from '../../policy/usage/ledger.ts';
import { REFUSALS } from '../requests/request-labels.ts';

/** Returns the same array until the list changes. */
export function createWatch(plan: () => GatewayPlan): (now: EpochMs) => readonly UsageVersion[] {
  let of: GatewayPlan | undefined;
  let from = 0;
  let until = 0;
  let watched: readonly UsageVersion[] = [];
  return (now) => {
    if (of === plan() && now >= from && now < until) return watched;
    of = plan();
    [from, until] = [now, Number.POSITIVE_INFINITY];
    const hasCalls = (version: VersionRules): boolean => {
      let has = false;
      // No early exit: the earliest change of any rules ends the validity of the list.
      for (const [rules, phase] of phasesOf(version, now)) {
        until = Math.min(until, phase.until, rules.knownUntil ?? until);
        has ||= isWatched(rules, phase.stage);
      }
      return has;
    };
    watched = of.apis.flatMap(({ name, versions }) =>
      [...versions.values()].filter(hasCalls).map(({ label }) => ({ api: name, version: label })),
    );
    return watched;
  };
}

/** With public access, requests with these refusals are no calls: they are refused before authentication. */
const BEFORE_AUTHENTICATION: ReadonlySet<RefusalReason> = new Set([
  'version_unknown',
  'route_unknown',
  'brownout',
  'maintenance',
]);

/** Whether calls in this stage are counted. With a freeze, calls before the deprecation count too. */
function isWatched(rules: VersionRules, stage: Stage): boolean {
  switch (stage) {
    case 'planned':
    case 'active':
      return rules.freeze !== undefined;
    case 'deprecated':
    case 'sunset':
    case 'retired':
      return true;
    default:
      return stage satisfies never;
  }
}

/**
 * The rules under which a request counts. Undefined if it does not count. A request counts once its caller is
 * authenticated and authorised, even if it is refused later. After the sunset, only calls that an exception admits
 * count.
 */
export function countedUnder({ decision, completion }: ExchangeFacts): VersionRules | undefined {
  const { version, phase, consumer } = decision;
  const { refusal } = completion;
  if (version === undefined || phase === undefined || !isWatched(version, phase.stage)) return undefined;
  if (refusal === 'version_retired' || refusal === 'version_moved') return undefined;
  // A refused newcomer must not become a known consumer by its request.
  if (refusal === 'adoption_frozen') return undefined;
  if (refusal !== undefined && REFUSALS[refusal]?.kind === 'auth') return undefined;
  const { access } = version;
  const isCall =
    access.kind === 'identified' && !access.anonymous
      ? consumer !== undefined
      : refusal === undefined || !BEFORE_AUTHENTICATION.has(refusal);
  return isCall ? version : undefined;
}
