// The readings of its path that a request is judged by, and the paths that are refused because services read them in different ways.
// Called before the version is known.
import type { ApiPlan, VersionRules } from '../plan/plan.ts';
import { serversOf } from '../plan/upstream-places.ts';
import type { ReadPath } from '../policy/paths/reading.ts';
import { mayBeginDoubled, mayHold, readingsOf } from '../policy/paths/rules.ts';
import type { RequestRefusal } from './directive.ts';

const malformed = (message: string): RequestRefusal => ({
  reason: 'request_malformed',
  status: 400,
  message,
});

export const ENCODED_SLASH = malformed('The path of this API cannot hold an encoded slash.');
export const EMPTY_SEGMENT = malformed('The path of this API cannot hold an empty segment.');
export const DOUBLE_SLASH = malformed(
  'The path begins with an empty segment where the service would read a host.',
);
export const ENCODED_QUERY = malformed('The path of this API cannot hold an encoded ? or #.');
/** Every nested API that a reading leads to admits the request, but only its own paths may lead to it. */
export const MISREAD = malformed(
  'The service may read this path as that of another API. Write the base of that API plainly.',
);
/** The rules of that version are not asked: only requests that name it may lead there. */
export const MISREAD_VERSION = malformed(
  'The service may read this path as that of another version. Name that version where this API expects it.',
);
const UNJUDGED: readonly ReadPath[] = [];

/**
 * The readings by which `tail` is judged, the literal one first. None if all paths of the API have the same rules.
 * `hasNested`: another API has its base below this one.
 */
export function pathReadings(
  { pathRules, hasOperations, inside }: ApiPlan,
  tail: string,
  hasNested: boolean,
): readonly ReadPath[] | RequestRefusal {
  if (pathRules.encodedSlash === 'reject' && mayHold(tail, ['2F'], pathRules)) return ENCODED_SLASH;
  if (!hasOperations && !hasNested && inside === undefined) return UNJUDGED;
  return readingsOf(tail, pathRules) ?? EMPTY_SEGMENT;
}

/** Of a target that the service, or a proxy before it, would not read as the gateway does. */
export function misreadTarget(
  { pathRules }: ApiPlan,
  { upstream }: VersionRules,
  tail: string,
): RequestRefusal | undefined {
  // If the upstream has no path, `tail` is the whole target, and a client reads the target `//host/path` as one with a host.
  if (upstream?.path === '' && mayBeginDoubled(tail, pathRules)) return DOUBLE_SLASH;
  // A proxy that decodes it makes a query of it, before the parameter with the version.
  const holdsQuery = pathRules.proxy === 'any' && mayHold(tail, ['3F', '23'], pathRules);
  return holdsQuery && upstream?.versionQuery !== undefined ? ENCODED_QUERY : undefined;
}

/** Also where nothing is known of the service of `nested`, all versions of which have ended. */
export function haveOneService({ upstream }: VersionRules, { versions }: ApiPlan): boolean {
  const own = serversOf(upstream);
  const theirs = [...versions.values()].flatMap((each) => serversOf(each.upstream));
  return theirs.length === 0 || theirs.some((server) => own.includes(server));
}
