// Where the requests for an upstream go: server and path in canonical spelling.
import type { Label } from '../../policy/versioning/resolution.ts';
import type { PolicyParts } from '../../sections/policy-file.ts';
import { upstreamPath } from '../../sections/upstreams/compile.ts';
import type { UpstreamPlan, VersionRules } from '../plan.ts';
import type { NestedRoutes } from '../routes/nested-routes.ts';
import { createRouteTableBuilder } from '../routes/route-table.ts';

type ServicePlace = Pick<UpstreamPlan, 'targets' | 'path'>;

export function placesIn({ upstreams = {}, base, versions }: PolicyParts): ReadonlyMap<Label, ServicePlace> {
  const places = Object.entries(upstreams).flatMap(([label, upstream]) => {
    const { targets = [], path } = upstream;
    if (path === undefined && base === undefined) return [];
    const own = upstreamPath(upstream, base ?? '', versions === 'none' ? undefined : label);
    return [[label, { targets: targets.map((origin) => ({ origin })), path: own }] as const];
  });
  return new Map(places);
}

/** `host:port/path` without a trailing slash, in lower case: some services ignore case. */
export function addressesOf(place: ServicePlace): readonly string[] {
  return serversOf(place).map((server) => server + place.path.toLowerCase());
}

/** `host:port/a` and `host:port` for `host:port/a/b`. */
export function outerPlaces(place: string): readonly string[] {
  const start = place.indexOf('/');
  if (start < 0) return [];
  const segments = place.slice(start).split('/');
  return segments.slice(1).map((_, index) => place.slice(0, start) + segments.slice(0, index + 1).join('/'));
}

export function serversOf(upstream: Pick<UpstreamPlan, 'targets'> | undefined): readonly string[] {
  return (upstream?.targets ?? []).map(({ origin }) => serverKey(new URL(origin)));
}

/** Equal for two authorities of the same server. The default ports of HTTP and HTTPS are left out. */
export function serverKey({ hostname, port }: Pick<URL, 'hostname' | 'port'>): string {
  const host = serverName(hostname);
  return port === '' || port === '80' || port === '443' ? host : `${host}:${port}`;
}

/** Addresses of this machine. A connection to 0.0.0.0 or [::] also reaches it. */
const LOCAL = /^(?:localhost|127(?:\.\d+){3}|0\.0\.0\.0|\[::1?\])$/;

/** Canonical name of the host of a service. Not for hosts of the gateway, which clients can tell apart. */
export function serverName(hostname: string): string {
  const host = hostname.toLowerCase().replace(/\.$/, '');
  const name = host.startsWith('[') ? unmapped(host) : host;
  return LOCAL.test(name) ? 'localhost' : name;
}

/** `10.0.0.7` for `[::ffff:10.0.0.7]` in any spelling (RFC 4291 §2.5.5.2). */
function unmapped(ipv6: string): string {
  const address = URL.parse(`http://${ipv6}`)?.hostname ?? ipv6;
  const groups = address.match(/^\[::ffff:([\da-f]+):([\da-f]+)\]$/)?.slice(1);
  if (groups === undefined) return address;
  return groups
    .map((group) => Number.parseInt(group, 16))
    .flatMap((bits) => [bits >> 8, bits & 255])
    .join('.');
}

/** The path from `outer` to `inner` on the same service. Undefined if `inner` is not inside `outer`. */
export function pathInside(outer: ServicePlace, inner: ServicePlace): string | undefined {
  if (!inner.path.toLowerCase().startsWith(`${outer.path.toLowerCase()}/`)) return undefined;
  const own = serversOf(outer);
  return serversOf(inner).some((server) => own.includes(server))
    ? inner.path.slice(outer.path.length)
    : undefined;
}

/** For each version, the paths below its own that belong to another version of the same service. */
export function nestedVersionPaths(
  versions: readonly Pick<VersionRules, 'label' | 'upstream'>[],
): ReadonlyMap<Label, NestedRoutes<Label>> | undefined {
  const inside = new Map<Label, NestedRoutes<Label>>();
  for (const outer of versions) {
    const { add, table } = createRouteTableBuilder<Label>();
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
