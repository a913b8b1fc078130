// Where the same resource lives in another version: absolute, on our own authority, safe inside a header line.
// The authority ends before the fixed path, so whatever the tail holds stays on our host (RET-3).
import type { GatewayPlan, VersionRules } from '../plan/plan.ts';
import { linkTarget } from '../policy/lifecycle/links.ts';

/** LNK-2: the mapped path without the query. Undefined when the version names no successor. */
export function successorUrl(plan: GatewayPlan, version: VersionRules, tail: string): string | undefined {
  return version.successorPath === undefined
    ? undefined
    : linkTarget(plan.public + version.successorPath + tail);
}

/** RET-2: the mapped path with the original query bytes. Undefined when the version is not redirected. */
export function redirectUrl(
  plan: GatewayPlan,
  version: VersionRules,
  tail: string,
  search: string,
): string | undefined {
  return version.redirectPath === undefined
    ? undefined
    : linkTarget(plan.public + version.redirectPath + tail + search);
}
