// Finds the API of a host and path: a tree of path segments per host, built once per plan.
import { decodedOctets } from '../../policy/octets.ts';
import { looksLikeVersion } from '../../policy/versioning/readers.ts';
import { LOOPBACK } from '../grammar/addresses.ts';
import { type NestedRoutes, nestedRoutes, type RouteNode } from './nested-routes.ts';
import { addNode, createNodesByName } from './nodes-by-name.ts';

export interface Route<T> {
  /** Lower case, no port, IPv6 in brackets. `{version}.` and a host: any first label that looks like a version. */
  readonly host: string;
  /** Literal segments and at most one `{version}`. */
  readonly path: string;
  readonly route: T;
}

export interface RouteMatch<T> {
  readonly route: T;
  /** The raw segment at `{version}`. Undefined if the base matched. */
  readonly versionSegment: string | undefined;
  /** The first label of a host that matched `{version}.…`. Undefined if the full name matched. */
  readonly subdomain: string | undefined;
  /** The raw path after the API's base: empty, or starting with `/`. */
  readonly tail: string;
}

export interface RouteTable<T> {
  /** Whether any route has this host (lower case, no port). Decides between 421 and 404. */
  readonly knowsHost: (host: string) => boolean;
  /** The longest matching route. A literal segment wins over `{version}`. `path` is normalised and raw. */
  readonly match: (host: string, path: string) => RouteMatch<T> | undefined;
  /** The routes below those of `route` on all hosts. Undefined if there are none. */
  readonly below: (route: T) => NestedRoutes<T> | undefined;
}

const VERSION = '{version}';

/** The best match so far. `end` is where the tail starts. */
interface BestMatch<T> {
  bound: { readonly route: T } | undefined;
  end: number;
  versionStart: number;
  versionEnd: number;
}

/** Do not use `table` before the last `add`. */
export interface RouteTableBuilder<T> {
  /** The first route at a host and path wins. @throws RangeError if the path has two `{version}` */
  readonly add: (route: Route<T>) => void;
  readonly table: RouteTable<T>;
}

export function createRouteTableBuilder<T>(): RouteTableBuilder<T> {
  const hosts = new Map<string, RouteNode<T>>();
  const places = new Map<T, RouteNode<T>[]>();
  const nested = new Map<T, NestedRoutes<T> | undefined>();
  return {
    add({ host, path, route }) {
      const place = insert(treeOf(hosts, host), path, route);
      if (place !== undefined) places.set(route, [...(places.get(route) ?? []), place]);
    },
    table: {
      knowsHost: (host) => hosts.has(host) || hosts.has(versionedHost(host)),
      match(host, path) {
        const named = hosts.get(host);
        const tree = named ?? hosts.get(versionedHost(host));
        if (tree === undefined || !path.startsWith('/')) return undefined;
        const found: BestMatch<T> = { bound: undefined, end: -1, versionStart: -1, versionEnd: -1 };
        descend(tree, path, 0, -1, -1, found);
        if (found.bound === undefined) return undefined;
        return {
          route: found.bound.route,
          versionSegment:
            found.versionStart < 0 ? undefined : path.slice(found.versionStart, found.versionEnd),
          subdomain: named === undefined ? host.slice(0, host.indexOf('.')) : undefined,
          tail: path.slice(found.end),
        };
      },
      below(route) {
        if (!nested.has(route)) nested.set(route, nestedRoutes(places.get(route) ?? [], route));
        return nested.get(route);
      },
    },
  };
}

/** The key for a host such as `v1.api.example.com`. `vx.api.example.com` shares it and is malformed (STAT-1). */
function versionedHost(host: string): string {
  const dot = host.indexOf('.');
  return dot > 0 && /^[v0-9]/.test(host) ? VERSION + host.slice(dot) : '';
}

function treeOf<T>(hosts: Map<string, RouteNode<T>>, host: string): RouteNode<T> {
  const known = hosts.get(host);
  if (known !== undefined) return known;
  const tree = createNode<T>();
  for (const name of LOOPBACK.includes(host) ? LOOPBACK : [host]) hosts.set(name, tree);
  return tree;
}

function createNode<T>(): RouteNode<T> {
  return {
    ...createNodesByName<RouteNode<T>>(),
    literals: new Map(),
    version: undefined,
    bound: undefined,
  };
}

/** The node of `path`. Undefined if another route has it. */
function insert<T>(tree: RouteNode<T>, path: string, route: T): RouteNode<T> | undefined {
  let node = tree;
  let versions = 0;
  for (const segment of path.split('/')) {
    if (segment === '') continue;
    if (segment === VERSION) {
      versions += 1;
      node.version ??= createNode();
      node = node.version;
    } else node = literalOf(node, segment);
  }
  if (versions > 1) throw new RangeError(`the path ${path} names the version twice`);
  if (node.bound !== undefined && node.bound.route !== route) return undefined;
  node.bound = { route };
  return node;
}

function literalOf<T>(node: RouteNode<T>, segment: string): RouteNode<T> {
  return node.literals.getOrInsertComputed(segment, () =>
    addNode(node, decodedOctets(segment), createNode<T>()),
  );
}

/**
 * Depth first, literals before `{version}`. The longest match wins; `at` is the end of the matched part. No node has
 * an empty segment or an encoded slash as key, so `//` and `%2F` never match inside a prefix (VER-7).
 */
function descend<T>(
  node: RouteNode<T>,
  path: string,
  at: number,
  versionStart: number,
  versionEnd: number,
  found: BestMatch<T>,
): void {
  if (node.bound !== undefined && at > found.end) {
    found.bound = node.bound;
    found.end = at;
    found.versionStart = versionStart;
    found.versionEnd = versionEnd;
  }
  if (at === path.length || (node.version === undefined && node.literals.size === 0)) return;
  const start = at + 1;
  const slash = path.indexOf('/', start);
  const end = slash < 0 ? path.length : slash;
  const segment = path.slice(start, end);
  const literal = node.literals.get(segment);
  if (literal !== undefined) descend(literal, path, end, versionStart, versionEnd, found);
  if (node.version !== undefined && looksLikeVersion(segment)) {
    descend(node.version, path, end, start, end, found);
  }
}
