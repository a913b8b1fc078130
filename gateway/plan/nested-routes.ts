// Nested routes: an API with its base below that of another API. A service may read a path of the outer API as one of the nested API.
// The nodes of the route table, and the look-up by one reading of a path.
import { type Letters, namesOf, type ReadPath } from '../policy/paths/rules.ts';

/** Characters. A longer segment is the name of no version that an API has. */
const LONGEST_VERSION = 100;
const LETTER_V = 0x76;
const DIGIT_0 = 0x30;
const DIGIT_9 = 0x39;

export interface RouteNode<T> {
  readonly literals: Map<string, RouteNode<T>>;
  /** The same nodes by their decoded names, as each kind of reader compares them. */
  readonly byName: Readonly<Record<Letters, Map<string, RouteNode<T>[]>>>;
  /** Of these names. */
  readonly lengths: Set<number>;
  longest: number;
  version: RouteNode<T> | undefined;
  /** Boxed, since a route may be any value. */
  bound: { readonly route: T } | undefined;
}

/** The routes below another route. */
export interface NestedRoutes<T> {
  /** The longest route that `path`, the path behind the outer route, leads to; one for each place of the outer route. */
  readonly reached: (path: ReadPath) => readonly NestedRoute<T>[];
}

export interface NestedRoute<T> {
  readonly route: T;
  /** The segment at `{version}`. */
  readonly versionSegment: string | undefined;
  /** The number of segments of the path that belong to the route. */
  readonly depth: number;
}

/** The routes below `places`, the nodes of `route` in the tree of one host; undefined if there are none. */
export function nestedRoutes<T>(places: readonly RouteNode<T>[], route: T): NestedRoutes<T> | undefined {
  const starts = places.filter((node) => leadsElsewhere(node, route));
  if (starts.length === 0) return undefined;
  return {
    reached: (path) =>
      starts
        .flatMap((start) => longest(start, route, path, 0, undefined))
        .filter((each) => each.route !== route),
  };
}

function leadsElsewhere<T>(node: RouteNode<T>, route: T): boolean {
  const below = [...node.literals.values(), ...(node.version === undefined ? [] : [node.version])];
  return below.some(
    (each) => (each.bound !== undefined && each.bound.route !== route) || leadsElsewhere(each, route),
  );
}

/** Several if names differ only in case; `route` itself if the path leads to no route below it. */
function longest<T>(
  node: RouteNode<T>,
  route: T,
  path: ReadPath,
  depth: number,
  versionSegment: string | undefined,
): readonly NestedRoute<T>[] {
  const index = node.byName[path.reader.letters];
  const deeper: NestedRoute<T>[] = [];
  if (depth < path.segments.length) {
    const any = { lengths: undefined, longest: Math.max(node.longest, LONGEST_VERSION) };
    for (const name of namesOf(path, depth, node.version === undefined ? node : any)) {
      for (const next of index.get(name) ?? [])
        deeper.push(...longest(next, route, path, depth + 1, versionSegment));
      if (node.version !== undefined && looksLikeVersion(name))
        deeper.push(...longest(node.version, route, path, depth + 1, name));
      if (deeper.length > 0) return deeper;
    }
  }
  return node.bound === undefined ? [] : [{ route: node.bound.route, versionSegment, depth }];
}

/** Whether a segment is meant as a version: `v1`, `1`, also `v01`, which is refused later as malformed; not `vendors`. */
export function looksLikeVersion(segment: string): boolean {
  const first = segment.charCodeAt(segment.charCodeAt(0) === LETTER_V ? 1 : 0);
  return first >= DIGIT_0 && first <= DIGIT_9 && !/;|%2F/.test(segment);
}
