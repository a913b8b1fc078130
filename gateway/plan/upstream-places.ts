// Where requests for an upstream go: server and path, in one form for each of their spellings.
// For the rules about what stands on one service, and for requests that lead from one version into another.
import type { Label } from '../policy/versioning/resolution.ts';
import type { PolicyParts } from './grammar/policy-grammar.ts';
import type { NestedRoutes } from './nested-routes.ts';
import type { UpstreamPlan, VersionRules } from './plan.ts';
import { hostKey, startRouteTable } from './route-table.ts';

type Upstream = NonNullable<PolicyParts['upstreams']>[string];
/** `path`: as in the plan. */
type ServicePlace = Pick<UpstreamPlan, 'targets' | 'path'>;

/** The path of the service in front of the tail: no trailing slash, empty for the root. `label`: undefined without versions. */
export function upstreamPath(
  { path, version_as }: Pick<Upstream, 'path' | 'version_as'>,
  base: string,
  label: Label | undefined,
): string {
  const plain = path ?? base;
  return (version_as === 'path' && label !== undefined ? `/${label}${plain}` : plain).replace(/\/$/, '');
}

/** Those of a policy file by label. */
export function placesIn({ upstreams = {}, base, versions }: PolicyParts): ReadonlyMap<Label, ServicePlace> {
  const places = Object.entries(upstreams).flatMap(([label, upstream]) => {
    const { targets = [], path } = upstream;
    if (path === undefined && base === undefined) return [];
    const own = upstreamPath(upstream, base ?? '', versions === 'none' ? undefined : label);
    return [[label, { targets: targets.map((origin) => ({ origin })), path: own }] as const];
  });
  return new Map(places);
}

/** `http://host:port/path`, without a last slash; in lower case, as some services take paths. */
export function addressesOf({ targets, path }: ServicePlace): readonly string[] {
  return targets.map(({ origin }) => {
    const { protocol, hostname, port } = new URL(origin);
    return `${protocol}//${hostKey(hostname)}:${port}${path.toLowerCase()}`;
  });
}

/** `http://host:port/a` and `http://host:port` for `http://host:port/a/b`. */
export function outerPlaces(place: string): readonly string[] {
  const start = place.indexOf('/', place.indexOf('//') + 2);
  if (start < 0) return [];
  const segments = place.slice(start).split('/');
  return segments.slice(1).map((_, index) => place.slice(0, start) + segments.slice(0, index + 1).join('/'));
}

/** Host and port of each target. */
export function serversOf(upstream: Pick<UpstreamPlan, 'targets'> | undefined): readonly string[] {
  return (upstream?.targets ?? []).map(({ origin }) => {
    const { hostname, port } = new URL(origin);
    return `${hostKey(hostname)}:${port}`;
  });
}

/** What a request for `outer` has behind its path to lead into `inner`, on one service; undefined where it never does. */
export function pathInside(outer: ServicePlace, inner: ServicePlace): string | undefined {
  if (!inner.path.toLowerCase().startsWith(`${outer.path.toLowerCase()}/`)) return undefined;
  const own = serversOf(outer);
  return serversOf(inner).some((server) => own.includes(server))
    ? inner.path.slice(outer.path.length)
    : undefined;
}

/** For each version with the path of another inside its own: the paths behind its own that lead there. */
export function versionsInside(
  versions: readonly Pick<VersionRules, 'label' | 'upstream'>[],
): ReadonlyMap<Label, NestedRoutes<Label>> | undefined {
  const inside = new Map<Label, NestedRoutes<Label>>();
  for (const outer of versions) {
    const { add, table } = startRouteTable<Label>();
    add({ host: '', path: '/', route: outer.label });
    for (const inner of versions) {
      const path = outer.upstream && inner.upstream && pathInside(outer.upstream, inner.upstream);
      if (path !== undefined) add({ host: '', path, route: inner.label });
    }
    const below = table.below(outer.label);
    if (below !== undefined) inside.set(outer.label, below);
  }
  return inside.size === 0 ? undefined : inside;
}
