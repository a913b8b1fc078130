// Opens the connections to a target for both planes: Node and undici, and the sockets of the fast plane.
import type { UpstreamPlan } from '../plan/plan.ts';
import type { TargetConnections, TargetPorts } from '../upstream/call.ts';
import type { Pools } from '../upstream/upstreams.ts';
import { connectDirectly } from './fast/upstream-pool.ts';
import { connectTarget, type HttpConnections } from './general/client/http-connections.ts';

export interface PlaneConnections extends HttpConnections {
  /** For the fast plane: its own connections, or the shared ones if the upstream speaks HTTP/2. */
  readonly direct: TargetConnections;
}

export function connectForPlanes(
  origin: string,
  upstream: UpstreamPlan,
  ports: TargetPorts,
): PlaneConnections {
  const shared = connectTarget(origin, upstream, ports);
  if (upstream.http2) return { ...shared, direct: shared };
  const own = connectDirectly(origin, upstream, ports);
  return {
    ...shared,
    direct: { ...shared, call: own.call },
    follow(addresses) {
      shared.follow(addresses);
      own.follow(addresses);
    },
    retire() {
      shared.retire();
      own.retire();
    },
    async destroy() {
      await Promise.all([shared.destroy(), own.destroy()]);
    },
  };
}

export function directPools({
  route,
  budget,
}: Pick<Pools<PlaneConnections>, 'route' | 'budget'>): Pick<Pools, 'route' | 'budget'> {
  return {
    budget,
    route(upstream, target) {
      const { limit, connections, dispatched } = route(upstream, target);
      return { limit, connections: connections.direct, dispatched };
    },
  };
}
