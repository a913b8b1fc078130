// What a service may read otherwise than it was judged (ORD-2): the path, the method, the version in its query.

import type { ApiPlan, VersionRules } from '../../plan/plan.ts';
import { serversOf } from '../../plan/upstreams/upstream-places.ts';
import { keptFields, METHOD_OVERRIDES } from '../../policy/headers/client-fields.ts';
import type { ReadPath } from '../../policy/paths/reading.ts';
import { mayBeginWithTwoSlashes, mayContain, readingsOf } from '../../policy/paths/rules.ts';
import { lookAlikes } from '../../policy/versioning/query.ts';
import type { Refusal, RequestRefusal } from '../directive.ts';
import type { RequestView } from '../request-view.ts';

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
const ENCODED_QUERY = malformed('The path of this API cannot hold an encoded ? or #.');
/** Every nested API that a reading leads to admits the request, but only its own paths may lead to it. */
export const MISREAD = malformed(
  'The service may read this path as that of another API. Write the base of that API plainly.',
);
/** The rules of that version are not asked: only requests that name it may lead there. */
export const MISREAD_VERSION = malformed(
  'The service may read this path as that of another version. Name that version where this API expects it.',
);
export const SECOND_VERSION = malformed(
  'The service may read a query parameter of this request as the one that tells the service its version. Leave it out.',
);
const UNJUDGED: readonly ReadPath[] = [];
/** As an array, which is quicker to walk than a map. */
const OVERRIDES = [...METHOD_OVERRIDES];

/**
 * The readings by which `tail` is judged, the literal one first. None if all paths of the API have the same rules.
 * `hasNested`: another API has its base below this one.
 */
export function pathReadings(
  { pathRules, hasOperations, inside }: ApiPlan,
  tail: string,
  hasNested: boolean,
): readonly ReadPath[] | RequestRefusal {
  if (pathRules.encodedSlash === 'reject' && mayContain(tail, ['2F'], pathRules)) return ENCODED_SLASH;
  if (!hasOperations && !hasNested && inside === undefined) return UNJUDGED;
  return readingsOf(tail, pathRules) ?? EMPTY_SEGMENT;
}

/** Of a target that the service, or a proxy before it, would not read as the gateway does. */
export function misreadTarget(
  { pathRules, resolution }: ApiPlan,
  { upstream }: VersionRules,
  tail: string,
  search: string,
): RequestRefusal | undefined {
  // If the upstream has no path, `tail` is the whole target, and a client reads the target `//host/path` as one with a host.
  if (upstream?.path === '' && mayBeginWithTwoSlashes(tail, pathRules)) return DOUBLE_SLASH;
  const name = upstream?.versionQuery;
  if (name === undefined) return undefined;
  // A proxy that decodes it makes a query of it, before the parameter with the version.
  if (pathRules.proxy === 'any' && mayContain(tail, ['3F', '23'], pathRules)) return ENCODED_QUERY;
  // VER-8: the gateway's is the only version in the query of the service.
  return lookAlikes(search, name, resolution.isIgnored, true).length === 0 ? undefined : SECOND_VERSION;
}

/** Also where nothing is known of the service of `nested`, all versions of which have ended. */
export function haveOneService({ upstream }: VersionRules, { versions }: ApiPlan): boolean {
  const own = serversOf(upstream);
  const theirs = [...versions.values()].flatMap((each) => serversOf(each.upstream));
  return theirs.length === 0 || theirs.some((server) => own.includes(server));
}

/** Refuses any method in an override header that is not the request's, in any letters, unless the API keeps the header. */
export function refuseOverride(
  { headers: rules }: ApiPlan,
  { method, headers, viaTrusted }: Pick<RequestView, 'method' | 'headers' | 'viaTrusted'>,
): Refusal | undefined {
  for (const [name, field] of OVERRIDES) {
    const value = headers.get(name);
    if (value === undefined || isMethod(value, method)) continue;
    if (!keptFields(rules, viaTrusted).includes(name)) return { reason: 'method_overridden', field, method };
  }
  return undefined;
}

/** Of several lines or a list services read the first or the last; empty members name nothing. */
function isMethod(list: string, method: string): boolean {
  return list
    .split(',')
    .map((each) => each.replace(/^[ \t]+|[ \t]+$/g, ''))
    .every((each) => each === '' || each.toUpperCase() === method);
}
