// Where the same resource lives in another version: absolute, on our own authority, safe inside a header line.
// The authority ends before the fixed path, so whatever the tail holds stays on our host (RET-3).
import type { GatewayPlan, VersionRules } from '../plan/plan.ts';
import type { EpochMs } from '../policy/contract.ts';
import { linkTarget } from '../policy/lifecycle/links.ts';

/**
 * LNK-2: the mapped path without the query. A version that names no successor has the target of its redirect for one
 * (RET-8); undefined when it has neither.
 */
export function successorUrl(
  plan: GatewayPlan,
  version: VersionRules,
  now: EpochMs,
  tail: string,
): string | undefined {
  const path = version.successorPath ?? redirectPath(version, now);
  return path === undefined ? undefined : linkTarget(plan.public + path + tail);
}

/** RET-2: the mapped path with the original query bytes. Undefined when nothing takes over from the version. */
export function redirectUrl(
  plan: GatewayPlan,
  version: VersionRules,
  now: EpochMs,
  tail: string,
  search: string,
): string | undefined {
  const path = redirectPath(version, now);
  return path === undefined ? undefined : linkTarget(plan.public + path + tail + search);
}

/** RET-4: the first version of the chain that is still served, so that no client is sent from one redirect to the next. */
function redirectPath({ redirects }: VersionRules, now: EpochMs): string | undefined {
  return redirects.find(({ until }) => now < until)?.path;
}
