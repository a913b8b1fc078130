// Where the client of a request finds the service behind: what the gateway replaces on the way in, and puts back on the way out.
// Part of every forward order; read only where an answer holds an address, or the service is told.
import type { GatewayPlan } from '../../plan/plan.ts';
import type { RequestView } from '../request-view.ts';

export interface ClientPlace {
  readonly view: Pick<RequestView, 'path' | 'search' | 'host'>;
  /** What follows the API's base in that path. */
  readonly tail: string;
  /** The parameter that carries versions; undefined where none does. */
  readonly query: string | undefined;
  readonly public: GatewayPlan['public'];
}

/** What stands before the tail in the path that the client asked for; empty for the root. */
export function clientPathOf({ view, tail }: Pick<ClientPlace, 'view' | 'tail'>): string {
  return view.path.slice(0, view.path.length - tail.length);
}
