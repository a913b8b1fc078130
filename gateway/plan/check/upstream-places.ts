// Where requests for an upstream go: target and path, in one form for each of their spellings.
// For the rules about what stands on one service.
import type { PolicyParts } from '../grammar/policy-grammar.ts';
import { hostKey } from '../route-table.ts';

type Upstream = NonNullable<PolicyParts['upstreams']>[string];

/** `http://host:port/path`, without a last slash; in lower case, as some services take paths. */
export function upstreamPlaces(
  { targets = [], path }: Upstream,
  base: string | undefined,
): readonly string[] {
  const below = (path ?? base)?.replace(/\/$/, '').toLowerCase();
  if (below === undefined) return [];
  return targets.map((target) => {
    const { protocol, hostname, port } = new URL(target);
    return `${protocol}//${hostKey(hostname)}:${port}${below}`;
  });
}

/** `http://host:port/a` and `http://host:port` for `http://host:port/a/b`. */
export function outerPlaces(place: string): readonly string[] {
  const start = place.indexOf('/', place.indexOf('//') + 2);
  if (start < 0) return [];
  const segments = place.slice(start).split('/');
  return segments.slice(1).map((_, index) => place.slice(0, start) + segments.slice(0, index + 1).join('/'));
}
