// What the pipeline asks about versions: what a request says of its own, which exist at an instant, the rules of one.
// The carriers of an API are read and judged in policy/versioning; here they meet the route and the plan.
import type { ApiPlan, VersionRules } from '../plan/plan.ts';
import type { RouteMatch } from '../plan/route-table.ts';
import type { EpochMs } from '../policy/contract.ts';
import { phaseAt } from '../policy/lifecycle/phases.ts';
import { hasEnded, isForgotten } from '../policy/lifecycle/retirement.ts';
import { readEvidence } from '../policy/versioning/readers.ts';
import type { Evidence, Label, Resolution } from '../policy/versioning/resolution.ts';
import { resolveVersion } from '../policy/versioning/resolve.ts';
import { Fault } from './directive.ts';
import type { RequestView } from './request-view.ts';

/** Every carrier that the API has enabled, read before any of them is believed (VER-3). */
export function evidenceOf(match: RouteMatch<ApiPlan>, view: RequestView): Evidence {
  return readEvidence(match.route.resolution, {
    method: view.method,
    pathSegment: match.versionSegment,
    subdomain: match.subdomain,
    search: view.search,
    headers: view.headers,
  });
}

/** One version of those that exist at `now`, or the refusal of it. */
export function resolutionOf(api: ApiPlan, evidence: Evidence, now: EpochMs): Resolution {
  return resolveVersion(api.resolution, evidence, {
    now,
    isReleased: (label) => isReleased(api, label, now),
    isServed: (label) => isReleased(api, label, now) && !hasEnded(phaseAt(versionOf(api, label).phases, now)),
  });
}

/** @throws Fault `internal` for a label that the plan does not have, which no resolution yields */
export function versionOf(api: ApiPlan, label: Label): VersionRules {
  const version = api.versions.get(label);
  if (version === undefined)
    throw new Fault('internal', { cause: new Error(`plan without version ${label}`) });
  return version;
}

/** A planned version counts as never having existed (STAT-1), and so does one that is forgotten. */
function isReleased(api: ApiPlan, label: Label, now: EpochMs): boolean {
  const version = versionOf(api, label);
  if (phaseAt(version.phases, now).stage === 'planned') return false;
  return !isForgotten(version.schedule, now) || (api.mode === 'observe' && version.upstream !== undefined);
}
