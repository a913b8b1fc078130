// The absolute URL of the same resource in another version, safe inside a header line.
import type { ApiPlan, GatewayPlan, RedirectTarget, VersionRules } from '../plan/plan.ts';
import { assess, type StageInput } from '../policy/lifecycle/assess.ts';
import { linkTarget } from '../policy/lifecycle/links.ts';
import { fillTail } from '../policy/lifecycle/operation-template.ts';
import { phaseAt } from '../policy/lifecycle/phases.ts';
import { hasEnded, NO_SUCCESSOR, type Successor } from '../policy/lifecycle/retirement.ts';
import type { Phase } from '../policy/lifecycle/schedule.ts';
import { isNamedOnlyInUrl } from '../policy/versioning/readers.ts';
import type { Evidence } from '../policy/versioning/resolution.ts';
import type { Decision, RequestStart } from './facts.ts';
import {
  isOpen,
  type LinkedVersions,
  linkedVersions,
  placeUrl,
  type ResourcePlace,
  relatedLinks,
} from './linked-versions.ts';

/** Below the base of the API. */
export interface Resource {
  readonly method: string;
  /** Raw, like every segment in `captures`, which the template of the operation matched. */
  readonly tail: string;
  readonly captures: readonly string[];
  readonly search: string;
  readonly evidence: Evidence;
}

export const NO_CAPTURES: Resource['captures'] = [];

export function linksOf(
  start: RequestStart,
  api: ApiPlan,
  version: VersionRules,
  phase: Phase,
  resource: Resource,
): Pick<Decision, 'linked' | 'successor' | 'relatedLinks'> {
  const { plan } = start;
  const linked = linkedVersions(plan, api, version, phase, start);
  const successor = successorAt(plan, version, linked, resource);
  return { linked, successor, relatedLinks: relatedLinks(linked, resource.tail) };
}

/**
 * LNK-2: the operation's template filled in, else the mapped path, without the query. If both versions share a URL, the
 * result names the version, because the URL alone would lead back to this one (RET-8).
 */
export function successorOf(
  plan: GatewayPlan,
  api: ApiPlan,
  version: VersionRules,
  moment: StageInput,
  resource: Resource,
): Successor {
  const phase = phaseAt(version.phases, moment.now);
  return successorAt(plan, version, linkedVersions(plan, api, version, phase, moment), resource);
}

function successorAt(
  plan: GatewayPlan,
  version: VersionRules,
  { successor: place }: LinkedVersions,
  resource: Resource,
): Successor {
  if (place === undefined) return NO_SUCCESSOR;
  const named = place.path === version.place && place.label !== version.label ? place.label : undefined;
  if (isHere(version, place, resource)) return { replacement: undefined, successor: named };
  return { replacement: linkTarget(placeUrl(plan, place) + tailAt(place, resource)), successor: named };
}

/**
 * RET-2: the mapped path with the original query bytes, in the first version of the chain that still serves it (RET-4).
 * If another carrier than the path named the version, the redirected request would name it again, so only the same
 * version can be the target. The requested URL is never the target (RET-5). Undefined if there is no target.
 */
export function redirectUrl(
  plan: GatewayPlan,
  api: ApiPlan,
  version: VersionRules,
  moment: StageInput,
  resource: Resource,
): string | undefined {
  const byPlaceAlone = isNamedOnlyInUrl(resource.evidence);
  const target = version.redirects.find(
    (each) =>
      isOpen(api, each, moment) &&
      (byPlaceAlone || each.label === version.label) &&
      !isHere(version, each, resource) &&
      serves(api, each, moment, resource),
  );
  return target && linkTarget(placeUrl(plan, target) + tailAt(target, resource) + resource.search);
}

/** Whether the operation at the target has not ended. A redirect must not lead to another redirect. */
function serves(api: ApiPlan, target: RedirectTarget, moment: StageInput, resource: Resource): boolean {
  const operations = api.versions.get(target.label)?.operations;
  const there = operations?.match(resource.method, tailAt(target, resource));
  return there === undefined || !hasEnded(phaseAt(assess(there.rules, moment).phases, moment.now));
}

function isHere(version: VersionRules, place: ResourcePlace, resource: Resource): boolean {
  return place.path === version.place && tailAt(place, resource) === resource.tail;
}

function tailAt({ tail }: ResourcePlace, resource: Resource): string {
  return tail === undefined ? resource.tail : fillTail(tail, resource.captures);
}
