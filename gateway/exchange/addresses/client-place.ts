// Where the client of a request finds the service: the parts of the URL that the gateway maps in both directions.
import type { ApiPlan, GatewayPlan } from '../../plan/plan.ts';
import { literalReading } from '../../policy/paths/rules.ts';
import type { Label } from '../../policy/versioning/resolution.ts';
import type { RequestView } from '../request-view.ts';

export interface ClientPlace {
  readonly view: Pick<RequestView, 'path' | 'search' | 'host'>;
  /** What follows the API's base in that path. */
  readonly tail: string;
  /** The query parameter with the version. Undefined if the API has none. */
  readonly query: string | undefined;
  readonly public: GatewayPlan['public'];
  /** The place of another version whose service path contains `path`. Undefined: no version is nested in this one. */
  readonly inside?: ((path: string) => InnerPlace | undefined) | undefined;
}

/** Where clients find a path of a version that is nested in another version of the same service. */
export interface InnerPlace {
  readonly path: string;
  /** Query parameter with the version. Undefined if path or host name it, or no address can. */
  readonly parameter: { readonly name: string; readonly value: string } | undefined;
  readonly isNamed: boolean;
}

export function clientPathOf({ view, tail }: Pick<ClientPlace, 'view' | 'tail'>): string {
  return view.path.slice(0, view.path.length - tail.length);
}

/** `path`: of the service, at or below the path of `outer`. */
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
  // Nested routes ignore empty segments, so the prefix may still differ.
  if (inner === undefined || start === undefined || !path.startsWith(start)) return undefined;
  const inPlace = inner.place !== around?.place;
  return {
    path: inner.place + path.slice(start.length) || '/',
    parameter: inPlace || query === undefined ? undefined : { name: query, value: inner.label },
    isNamed: inPlace || query !== undefined,
  };
}
