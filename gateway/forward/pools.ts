// Connection pools towards upstreams, one per origin and connect time-out, shared by plans that agree on both.
// Read by the forwarder for every request; told by gateway.ts which plan is in force.
import { buildConnector, type Client, Pool } from 'undici';
import type { GatewayPlan, UpstreamPlan } from '../plan/plan.ts';
import { trackedFactory } from './connection.ts';

/** One target of one request: where it goes and through which connections. */
export interface Route {
  readonly origin: string;
  readonly pool: Pool;
  /** Options for a connection of its own, used by a retry. */
  readonly options: Client.Options;
  /** Call once the request has been dispatched: a pool no plan uses is closed when its requests are done. */
  readonly dispatched: () => void;
}

export interface Pools {
  /** The next target of an upstream, round robin. */
  readonly route: (upstream: UpstreamPlan) => Route;
  /** Keeps what `plan` uses and closes every other pool as soon as its last request is answered. */
  readonly keepOnly: (plan: GatewayPlan) => void;
  /** Open pools, for a gauge and for tests. */
  readonly size: () => number;
  /** Ends every connection at once. */
  readonly close: () => Promise<void>;
}

export interface PoolOptions {
  /** Connections per target. */
  readonly connections: number;
  /** PEM bundle of additional trust, for upstreams with a private authority. */
  readonly ca?: string | undefined;
}

const keyOf = (origin: string, connectMs: number): string => `${origin} ${connectMs}`;

export function createPools({ connections, ca }: PoolOptions): Pools {
  const open = new Map<string, Route>();
  const turns = new WeakMap<UpstreamPlan, { next: number }>();
  let wanted: ReadonlySet<string> | undefined;

  function create(key: string, origin: string, connectMs: number): Route {
    // Certificates are verified (FWD-19); HTTP/2 towards upstreams stays off.
    const connect = buildConnector({
      allowH2: false,
      timeout: connectMs,
      minVersion: 'TLSv1.2',
      rejectUnauthorized: true,
      ...(ca === undefined ? {} : { ca }),
    });
    const options: Client.Options = {
      connect,
      allowH2: false,
      pipelining: 1,
      // Below the 5 s that many servers keep an idle connection, so that we let go first.
      keepAliveTimeout: 4_000,
      keepAliveMaxTimeout: 60_000,
      keepAliveTimeoutThreshold: 1_000,
    };
    const pool = new Pool(origin, { ...options, connections, factory: trackedFactory });
    // Without a listener undici's own error events would end the process; each request gets its error anyway.
    pool.on('connectionError', () => undefined);
    const dispatched = (): void => {
      if (wanted !== undefined && !wanted.has(key)) drop(key);
    };
    const route = { origin, pool, options, dispatched };
    open.set(key, route);
    return route;
  }

  function drop(key: string): void {
    const route = open.get(key);
    if (route === undefined) return;
    open.delete(key);
    route.pool.close(() => undefined);
  }

  return {
    route(upstream) {
      const { targets, timeouts } = upstream;
      let target = targets[0];
      if (targets.length > 1) {
        let turn = turns.get(upstream);
        if (turn === undefined) {
          turn = { next: 0 };
          turns.set(upstream, turn);
        }
        target = targets[turn.next];
        turn.next = (turn.next + 1) % targets.length;
      }
      if (target === undefined) throw new Error(`upstream ${upstream.name} has no target`);
      const key = keyOf(target.origin, timeouts.connect);
      return open.get(key) ?? create(key, target.origin, timeouts.connect);
    },
    keepOnly(plan) {
      const keys = new Set<string>();
      for (const api of plan.apis) {
        for (const { upstream } of api.versions.values()) {
          if (upstream === undefined) continue;
          for (const { origin } of upstream.targets) keys.add(keyOf(origin, upstream.timeouts.connect));
        }
      }
      wanted = keys;
      for (const key of open.keys()) if (!keys.has(key)) drop(key);
    },
    size: () => open.size,
    async close() {
      const routes = [...open.values()];
      open.clear();
      await Promise.all(routes.map(({ pool }) => pool.destroy()));
    },
  };
}
