// Refuses requests that a service may read differently from the gateway (ORD-2).

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
  'The path begins with an empty segment, which the service may read as a host.',
);
const ENCODED_QUERY = malformed('The path of this API cannot hold an encoded ? or #.');
/** A nested API that a reading reaches also admits the request, but only its own paths may lead to it. */
export const MISREAD = malformed(
  'The service may read this path as that of another API. Write the base of that API without escapes.',
);
/** The rules of that version are not checked, so only requests that name it may reach it. */
export const MISREAD_VERSION = malformed(
  'The service may read this path as that of another version. Name that version where this API expects it.',
);
export const SECOND_VERSION = malformed(
  'The service may read a query parameter of this request as its version. Remove the parameter.',
);
const UNJUDGED: readonly ReadPath[] = [];
/** An array, because iterating over it is faster than over a map. */
const OVERRIDES = [...METHOD_OVERRIDES];

/**
 * The readings of a path, the literal one first. Empty if all paths have the same rules. `hasNested`: another
 * API has its base below this one.
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

export function refuseMisreadTarget(
  { pathRules, resolution }: ApiPlan,
  { upstream }: VersionRules,
  tail: string,
  search: string,
): RequestRefusal | undefined {
  // If the upstream has no path, `tail` is the whole target. Servers read a host in the target `//host/path`.
  if (upstream?.path === '' && mayBeginWithTwoSlashes(tail, pathRules)) return DOUBLE_SLASH;
  const name = upstream?.versionQuery;
  if (name === undefined) return undefined;
  // A proxy that decodes an encoded ? or # ends the path there, before the version parameter.
  if (pathRules.proxy === 'any' && mayContain(tail, ['3F', '23'], pathRules)) return ENCODED_QUERY;
  // VER-8: the query for the service contains one version, which the gateway writes.
  return lookAlikes(search, name, resolution.isIgnored, true).length === 0 ? undefined : SECOND_VERSION;
}

/** Also true if all versions of `nested` have ended, because its service is then unknown. */
export function haveOneService({ upstream }: VersionRules, { versions }: ApiPlan): boolean {
  const own = serversOf(upstream);
  const theirs = [...versions.values()].flatMap((each) => serversOf(each.upstream));
  return theirs.length === 0 || theirs.some((server) => own.includes(server));
}

/**
 * Refuses an override header with a method other than the request's, in any case, unless the API keeps the
 * header.
 */
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

/** Services read the first or the last of several members. Empty members name no method. */
function isMethod(list: string, method: string): boolean {
  return list
    .split(',')
    .map((each) => each.replace(/^[ \t]+|[ \t]+$/g, ''))
    .every((each) => each === '' || each.toUpperCase() === method);
}
