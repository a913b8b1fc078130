// What the pipeline asks about versions: what a request says of its own, which exist at an instant, the rules of one.
// The carriers of an API are read and judged in policy/versioning; here they meet the route and the plan.
import type { ApiPlan, VersionRules } from '../plan/plan.ts';
import type { RouteMatch } from '../plan/route-table.ts';
import { assess, type Moment } from '../policy/lifecycle/assess.ts';
import { someoneMayPass } from '../policy/lifecycle/exceptions.ts';
import { phaseAt } from '../policy/lifecycle/phases.ts';
import { hasEnded, isForgotten } from '../policy/lifecycle/retirement.ts';
import type { Phase } from '../policy/lifecycle/schedule.ts';
import type { PinMoment } from '../policy/versioning/pin-resolution.ts';
import { lookAlikes } from '../policy/versioning/query.ts';
import { readEvidence } from '../policy/versioning/readers.ts';
import type { Evidence, Label, Resolution } from '../policy/versioning/resolution.ts';
import { resolveVersion } from '../policy/versioning/resolve.ts';
import { Fault, type RequestRefusal } from './directive.ts';
import type { RequestView } from './request-view.ts';

/** Every carrier that the API has enabled, read before any of them is believed (VER-3). */
export function evidenceOf(match: RouteMatch<ApiPlan>, view: RequestView): Evidence {
  return readEvidence(match.route.resolution, {
    method: view.method,
    pathSegment: match.versionSegment,
    subdomain: match.subdomain,
    tail: match.tail,
    search: view.search,
    headers: view.headers,
    underscored: view.underscored,
  });
}

/** One version of those that exist then, or the refusal of it; open where the pin of the account decides. */
export function resolutionOf(api: ApiPlan, evidence: Evidence, moment: Moment): Resolution {
  return resolveVersion(api.resolution, evidence, versionsAt(api, moment));
}

export const SECOND_VERSION: RequestRefusal = {
  reason: 'request_malformed',
  status: 400,
  message:
    'The service may read a query parameter of this request as the one that tells the service its version. Leave it out.',
};

/** VER-8: `version_as: { query: … }` is the only version in the query of the service. */
export function refuseSecondVersion(
  { resolution }: ApiPlan,
  { upstream }: VersionRules,
  search: string,
): RequestRefusal | undefined {
  const name = upstream?.versionQuery;
  if (name === undefined) return undefined;
  return lookAlikes(search, name, resolution.isIgnored, true).length === 0 ? undefined : SECOND_VERSION;
}

/** Which versions there are, as resolution asks for them. */
export function versionsAt(api: ApiPlan, moment: Moment): PinMoment {
  return {
    now: moment.now,
    isReleased: (label) => isReleased(api, label, moment),
    isServed: (label) => isReleased(api, label, moment) && !hasEnded(phaseOf(api, label, moment)),
    mayAnswer: (label) => mayAnswer(api, label, moment),
    wasReleased: (label, at) => phaseAt(versionOf(api, label).phases, at).stage !== 'planned',
  };
}

/** @throws Fault `internal` for a label that the plan does not have, which no resolution yields */
export function versionOf(api: ApiPlan, label: Label): VersionRules {
  const version = api.versions.get(label);
  if (version === undefined)
    throw new Fault('internal', { cause: new Error(`plan without version ${label}`) });
  return version;
}

/** A planned version counts as never having existed (STAT-1), and so does one that is forgotten. */
function isReleased(api: ApiPlan, label: Label, moment: Moment): boolean {
  if (phaseOf(api, label, moment).stage === 'planned') return false;
  const { schedule, upstream } = assess(versionOf(api, label), moment);
  return !isForgotten(schedule, moment.now) || (api.mode === 'observe' && upstream !== undefined);
}

/** Past its sunset a version still serves who has leave, and everybody where its end is only observed. */
function mayAnswer(api: ApiPlan, label: Label, moment: Moment): boolean {
  if (!hasEnded(phaseOf(api, label, moment))) return true;
  const { access, exceptions, upstream } = versionOf(api, label);
  if (api.mode === 'observe' && upstream !== undefined) return true;
  return access.kind === 'identified' && someoneMayPass('sunset', exceptions, moment.now);
}

function phaseOf(api: ApiPlan, label: Label, moment: Moment): Phase {
  return phaseAt(assess(versionOf(api, label), moment).phases, moment.now);
}
