// Versions of the plan in force whose calls are counted: the store keeps since when, so that silence can be told from ignorance.
// Asked at every flush; looked up again only when the plan or a stage has changed.
import { phasesOf } from '../../exchange/standing.ts';
import type { GatewayPlan, VersionRules } from '../../plan/plan.ts';
import type { EpochMs } from '../../policy/contract.ts';
import type { UsageVersion } from '../../policy/usage/ledger.ts';
import { isWatched } from './counted-call.ts';

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
