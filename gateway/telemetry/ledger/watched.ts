// Which requests are calls that the ledger counts, and which versions have any: what is deprecated, and what is frozen.
import type { RefusalReason } from '../../exchange/directive.ts';
import type { ExchangeFacts } from '../../exchange/facts.ts';
import { phasesOf } from '../../exchange/version-states.ts';
import type { GatewayPlan, VersionRules } from '../../plan/plan.ts';
import type { EpochMs } from '../../policy/contract.ts';
import type { Stage } from '../../policy/lifecycle/schedule.ts';
import type { UsageVersion } from '../../policy/usage/ledger.ts';
import { REFUSALS } from '../requests/request-labels.ts';

/** The same array for as long as nothing has changed. */
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
      // Each is looked at, since the next change of any ends what is known.
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

/** Refusals of public access that count as no call: they come before a caller would be authenticated. */
const BEFORE_AUTHENTICATION: ReadonlySet<RefusalReason> = new Set([
  'version_unknown',
  'route_unknown',
  'brownout',
  'maintenance',
]);

/** Whether calls of a version or operation are counted in this stage; of a frozen one also before it is deprecated. */
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
 * The rules under which a request counts; undefined for one that does not. It counts once its caller is authenticated and
 * authorised, whatever it is refused for then. What has ended is counted for consumers that it still serves.
 */
export function countedUnder({ decision, completion }: ExchangeFacts): VersionRules | undefined {
  const { version, phase, consumer } = decision;
  const { refusal } = completion;
  if (version === undefined || phase === undefined || !isWatched(version, phase.stage)) return undefined;
  if (refusal === 'version_retired' || refusal === 'version_moved') return undefined;
  // Who may not begin to call is no caller, and is not to become one by asking.
  if (refusal === 'adoption_frozen') return undefined;
  if (refusal !== undefined && REFUSALS[refusal]?.kind === 'auth') return undefined;
  const { access } = version;
  const isCall =
    access.kind === 'identified' && !access.anonymous
      ? consumer !== undefined
      : refusal === undefined || !BEFORE_AUTHENTICATION.has(refusal);
  return isCall ? version : undefined;
}
