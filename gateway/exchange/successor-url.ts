// Where the same resource lives in another version: absolute, on our own authority, safe inside a header line.
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

/** What was asked for, below the API's base. */
export interface Resource {
  readonly method: string;
  /** Raw, as is every segment in `captures`: what the operation's template holds of it. */
  readonly tail: string;
  readonly captures: readonly string[];
  readonly search: string;
  /** How its version was named. */
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
 * LNK-2: the operation's own template filled in, else the mapped path; without the query. Where two versions share their
 * URL the version to ask for is named, since the URL alone would lead back to what was asked (RET-8).
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
  // An operation that leads to another one of its own version has no version to name.
  const named = place.path === version.place && place.label !== version.label ? place.label : undefined;
  if (isHere(version, place, resource)) return { replacement: undefined, successor: named };
  return { replacement: linkTarget(placeUrl(plan, place) + tailAt(place, resource)), successor: named };
}

/**
 * RET-2: the mapped path with the original query bytes, in the first version of the chain that still serves it (RET-4).
 * A version that was not named by the path alone would be named again there: only the same version is then a target,
 * and never the URL just requested (RET-5). Undefined when nothing takes over.
 */
export function redirectUrl(
  plan: GatewayPlan,
  api: ApiPlan,
  version: VersionRules,
  moment: StageInput,
  resource: Resource,
): string | undefined {
  // After a redirect the client sends a header with the version again.
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

/** Whether the operation that would answer there has not ended itself: no redirect leads to the next one. */
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
