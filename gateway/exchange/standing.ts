// Every version of a plan as it stands at a moment, for whoever tells of all of them.
// Read by the metrics at scrape; a request assesses only the version it is for.
import type { GatewayPlan, VersionRules } from '../plan/plan.ts';
import { assess, holdOf, type Moment } from '../policy/lifecycle/assess.ts';
import { phaseAt } from '../policy/lifecycle/phases.ts';
import type { Stage } from '../policy/lifecycle/schedule.ts';
import { UNVERSIONED } from '../policy/versioning/resolution.ts';

export interface Standing {
  /** With the dates as overrides leave them. */
  readonly rules: VersionRules;
  readonly stage: Stage;
  /** Whether a pause holds its brownouts and its retirement; undefined where the API has no versions. */
  readonly paused: boolean | undefined;
}

export function* standingOf(plan: GatewayPlan, moment: Moment): Iterable<Standing> {
  for (const api of plan.apis) {
    for (const version of api.versions.values()) {
      const rules = assess(version, moment);
      const { stage } = phaseAt(rules.phases, moment.now);
      const paused = version.label === UNVERSIONED ? undefined : holdOf(version, moment) !== undefined;
      yield { rules, stage, paused };
    }
  }
}
