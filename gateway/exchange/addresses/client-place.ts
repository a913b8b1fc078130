// Where the client of a request finds the service behind: what the gateway replaces on the way in, and puts back on the way out.
import type { ApiPlan, GatewayPlan } from '../../plan/plan.ts';
import { literalReading } from '../../policy/paths/rules.ts';
import type { Label } from '../../policy/versioning/resolution.ts';
import type { RequestView } from '../request-view.ts';

export interface ClientPlace {
  readonly view: Pick<RequestView, 'path' | 'search' | 'host'>;
  /** What follows the API's base in that path. */
  readonly tail: string;
  /** The parameter that carries versions; undefined where none does. */
  readonly query: string | undefined;
  readonly public: GatewayPlan['public'];
  /** The place of another version, if a path of the service lies inside that version. Undefined: none is inside this one. */
  readonly inside?: ((path: string) => InnerPlace | undefined) | undefined;
}

/** Where clients find a path of a version that stands inside the path of another version on one service. */
export interface InnerPlace {
  /** A URL if only the host names the version. */
  readonly path: string;
  /** In the query; undefined if path or host name the version, or nothing in an address can. */
  readonly parameter: { readonly name: string; readonly value: string } | undefined;
  readonly isNamed: boolean;
}

/** What stands before the tail in the path that the client asked for; empty for the root. */
export function clientPathOf({ view, tail }: Pick<ClientPlace, 'view' | 'tail'>): string {
  return view.path.slice(0, view.path.length - tail.length);
}

/** `path`: of the service, at or below that of `outer`. */
export function innerPlaceOf(
  { inside, versions, resolution: { query } }: ApiPlan,
  outer: Label,
  path: string,
): InnerPlace | undefined {
  const around = versions.get(outer);
  const reached = inside?.get(outer)?.reached(literalReading(path.slice(around?.upstream?.path.length)));
  const found = reached?.find(({ route }) => route !== outer);
  const inner = found && versions.get(found.route);
  const start = inner?.upstream?.path;
  // Empty segments count for nothing there.
  if (inner === undefined || start === undefined || !path.startsWith(start)) return undefined;
  const inPlace = inner.place !== around?.place;
  return {
    path: inner.place + path.slice(start.length) || '/',
    parameter: inPlace || query === undefined ? undefined : { name: query, value: inner.label },
    isNamed: inPlace || query !== undefined,
  };
}
