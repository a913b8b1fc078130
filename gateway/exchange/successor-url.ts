// Where the same resource lives in another version: absolute, on our own authority, safe inside a header line.
// The authority ends before the fixed path, so whatever the tail holds stays on our host (RET-3).
import type { ApiPlan, GatewayPlan, RedirectTarget, VersionRules } from '../plan/plan.ts';
import { assess, type Moment } from '../policy/lifecycle/assess.ts';
import { linkTarget } from '../policy/lifecycle/links.ts';
import { fillTail } from '../policy/lifecycle/operation-template.ts';
import { phaseAt } from '../policy/lifecycle/phases.ts';
import { hasEnded, NO_SUCCESSOR, type Successor } from '../policy/lifecycle/retirement.ts';

/** What was asked for, below the API's base. */
export interface Resource {
  readonly method: string;
  /** Raw, as is every segment in `captures`: what the operation's template holds of it. */
  readonly tail: string;
  readonly captures: readonly string[];
  /** The raw query with its `?`. */
  readonly search: string;
  /** Whether nothing but the path or the host named the version. */
  readonly byPathAlone: boolean;
}

type Place = Pick<RedirectTarget, 'path' | 'tail'>;

/**
 * LNK-2: the operation's own template filled in, else the mapped path; without the query. A version that names no
 * successor has the first open target of its redirect for one (RET-8). Where the two share their URL, the one just
 * requested is no other place to go, and the version to ask for there is named.
 */
export function successorOf(
  plan: GatewayPlan,
  api: ApiPlan,
  version: VersionRules,
  moment: Moment,
  resource: Resource,
): Successor {
  const { label, successorPath: path, successorTail, schedule } = version;
  const place =
    path === undefined
      ? version.redirects.find((each) => isOpen(api, each, moment))
      : { path, tail: successorTail, label: schedule.successor };
  if (place === undefined) return NO_SUCCESSOR;
  if (!isHere(version, place, resource))
    return {
      replacement: linkTarget(placeUrl(plan, place) + tailAt(place, resource)),
      successor: undefined,
    };
  // An operation that leads to another method of its own version has no version to name.
  return place.label === label ? NO_SUCCESSOR : { replacement: undefined, successor: place.label };
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
  moment: Moment,
  resource: Resource,
): string | undefined {
  const target = version.redirects.find(
    (each) =>
      isOpen(api, each, moment) &&
      (resource.byPathAlone || each.label === version.label) &&
      !isHere(version, each, resource) &&
      serves(api, each, moment, resource),
  );
  return target && linkTarget(placeUrl(plan, target) + tailAt(target, resource) + resource.search);
}

/** Whether the operation that would answer there has not ended itself: no redirect leads to the next one. */
function serves(api: ApiPlan, target: RedirectTarget, moment: Moment, resource: Resource): boolean {
  const operations = api.versions.get(target.label)?.operations;
  const there = operations?.match(resource.method, tailAt(target, resource));
  return there === undefined || !hasEnded(phaseAt(assess(there.rules, moment).phases, moment.now));
}

/** Until its own sunset, or for as long as that is held. */
function isOpen(api: ApiPlan, { label, until }: RedirectTarget, moment: Moment): boolean {
  if (moment.now < until) return true;
  const there = api.versions.get(label);
  return there !== undefined && moment.now < (assess(there, moment).schedule.sunset ?? until);
}

/** On our own authority, or on the one that the policy gives the version (RET-3). */
export function placeUrl(plan: GatewayPlan, { path }: Pick<Place, 'path'>): string {
  return /^https?:/.test(path) ? path : plan.public + path;
}

function isHere(version: VersionRules, place: Place, resource: Resource): boolean {
  return place.path === version.place && tailAt(place, resource) === resource.tail;
}

function tailAt({ tail }: Place, resource: Resource): string {
  return tail === undefined ? resource.tail : fillTail(tail, resource.captures);
}
