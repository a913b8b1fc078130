// The parts of the client's URL that the gateway needs to map addresses of the service to those of clients, and back.
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
  /** Returns the nested version whose service path contains `path`. Undefined if no version is nested in this one. */
  readonly inside?: ((path: string) => InnerPlace | undefined) | undefined;
}

/** Where clients find a path of a version that is nested in another version of the same service. */
export interface InnerPlace {
  readonly path: string;
  /** Query parameter with the version. Undefined if the path or host names it, or if no address can. */
  readonly parameter: { readonly name: string; readonly value: string } | undefined;
  /** Whether the client address names the version. */
  readonly isNamed: boolean;
}

export function clientBasePathOf({ view, tail }: Pick<ClientPlace, 'view' | 'tail'>): string {
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
