// Host and path to API: a tree of path segments per host, built once per plan.

export interface RouteMatch<T> {
  readonly route: T;
  /** The raw segment at `{version}`; undefined when the base matched. */
  readonly versionSegment: string | undefined;
  /** What follows the API's base, raw: empty, or starting with `/`. */
  readonly tail: string;
}

export interface RouteTable<T> {
  /** True when any route is bound to this host (lower case, no port); decides 421 against 404. */
  readonly knowsHost: (host: string) => boolean;
  /** The longest matching route; a literal segment wins over `{version}`. `path` is normalised and raw. */
  readonly match: (host: string, path: string) => RouteMatch<T> | undefined;
}
