// Nested routes: an API below the base of another. A service may mix up their paths.
import { LONGEST_LITERAL } from '../../policy/octets.ts';
import type { ReadPath } from '../../policy/paths/reading.ts';
import { looksLikeVersion } from '../../policy/versioning/readers.ts';
import { type Matches, matchesBelow, NO_MATCHES, type NodesByName } from './nodes-by-name.ts';

/** Name lengths to try for a `{version}` segment. */
const ALL_LENGTHS = Array.from({ length: LONGEST_LITERAL }, (_, index) => LONGEST_LITERAL - index);

export interface RouteNode<T> extends NodesByName<RouteNode<T>> {
  /** By the text that the gateway itself matches. */
  readonly literals: Map<string, RouteNode<T>>;
  version: RouteNode<T> | undefined;
  /** An object, since a route may be undefined. */
  bound: { readonly route: T } | undefined;
}

export interface NestedRoutes<T> {
  /** The longest routes that readers find for `path`, the path after the outer route. Otherwise the outer route. */
  readonly reached: (path: ReadPath) => readonly NestedRoute<T>[];
}

export interface NestedRoute<T> {
  readonly route: T;
  /** The segment at `{version}`. */
  readonly versionSegment: string | undefined;
  /** The number of segments of the path that belong to the route. */
  readonly depth: number;
}

/** The routes below `places`, which are the nodes of `route` in the tree of one host. Undefined if there are none. */
export function nestedRoutes<T>(places: readonly RouteNode<T>[], route: T): NestedRoutes<T> | undefined {
  const starts = places.filter((node) => hasOtherRoute(node, route));
  if (starts.length === 0) return undefined;
  return {
    reached: (path) => starts.flatMap((start) => longestMatches(start, path, 0, undefined, false).matches),
  };
}

function hasOtherRoute<T>(node: RouteNode<T>, route: T): boolean {
  const below = [...node.literals.values(), ...(node.version === undefined ? [] : [node.version])];
  return below.some(
    (each) => (each.bound !== undefined && each.bound.route !== route) || hasOtherRoute(each, route),
  );
}

/** A reader gets the route of `node` if it finds no longer route. `isFolded`: the path matched only by ignoring case. */
function longestMatches<T>(
  node: RouteNode<T>,
  path: ReadPath,
  depth: number,
  versionSegment: string | undefined,
  isFolded: boolean,
): Matches<NestedRoute<T>> {
  const { byName, version } = node;
  const below =
    depth === path.segments.length
      ? NO_MATCHES
      : matchesBelow<RouteNode<T> | string, NestedRoute<T>>(
          path,
          depth,
          version === undefined ? node.lengths : ALL_LENGTHS,
          (name, letters) => {
            const next = byName[letters].get(name) ?? [];
            return version !== undefined && looksLikeVersion(name) ? [...next, name] : next;
          },
          (next, folds) =>
            typeof next === 'string'
              ? longestMatches(version ?? node, path, depth + 1, next, isFolded || folds)
              : longestMatches(next, path, depth + 1, versionSegment, isFolded || folds),
        );
  if ((below.byAll && !isFolded) || node.bound === undefined) return below;
  const own = { route: node.bound.route, versionSegment, depth };
  return { matches: [...below.matches, own], byAll: true };
}
