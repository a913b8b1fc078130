// The targets of the upstreams as they are reached: connections, places and retries, shared by plans that agree on them.
// Asked by every call once its target is chosen; told by gateway.ts which plan is in force.
import { createHash } from 'node:crypto';
import type { Agent } from 'node:http';
import type { Socket } from 'node:net';
import { type Dispatcher, Pool } from 'undici';
import type { GatewayPlan, Target, UpstreamPlan } from '../plan/plan.ts';
import {
  type ClientOptions,
  type ConnectionAware,
  IDLE_MS,
  openClient,
} from '../plane/general/client/connection.ts';
import { createReach } from '../plane/general/client/connector.ts';
import { createGate, type Gate } from './gate.ts';
import { createNameLookup, type FindAddresses } from './name-lookup.ts';
import { createRetryBudget, type RetryBudget } from './retry-budget.ts';

/** One target as it is reached by one call. */
export interface Route {
  readonly origin: string;
  readonly gate: Gate;
  readonly dispatch: (options: Dispatcher.DispatchOptions, handler: ConnectionAware) => void;
  /** The same on a connection that nothing was sent on before, and that ends with the answer. */
  readonly dispatchFresh: (options: Dispatcher.DispatchOptions, handler: ConnectionAware) => void;
  /** For a connection that becomes a WebSocket. */
  readonly agent: Agent;
  /** Call when the call has begun: what no plan uses is closed when its calls are done. */
  readonly dispatched: () => void;
}

export interface Pools {
  readonly route: (upstream: UpstreamPlan, target: Target) => Route;
  readonly budget: (upstream: UpstreamPlan) => RetryBudget;
  /** Steps that keep what `plan` uses, and at their end close everything else as soon as its last request is answered. */
  readonly keepSteps: (plan: GatewayPlan) => Generator<void, void>;
  /** Targets that are reached, for a gauge and for tests. */
  readonly size: () => number;
  /** Ends every connection at once. */
  readonly close: () => Promise<void>;
}

export interface PoolOptions {
  /** PEM bundle for upstreams that name no authority of their own; default: Node's. */
  readonly ca?: string | undefined;
  /** Default: the system's. */
  readonly findAddresses?: FindAddresses;
  /** How long an address of a host name is believed, milliseconds. */
  readonly lookupEveryMs?: number;
}

interface OpenRoute extends Route {
  /** Lets go of connections to addresses that the host name no longer has. */
  readonly follow: () => Promise<void>;
  readonly retire: () => void;
  readonly destroy: () => Promise<void>;
}

/** The system's resolver goes by the TTL of a name; this much later everything here does. */
const LOOKUP_EVERY_MS = 30_000;

export function createPools({ ca, findAddresses, lookupEveryMs = LOOKUP_EVERY_MS }: PoolOptions = {}): Pools {
  const open = new Map<string, OpenRoute>();
  const budgets = new WeakMap<UpstreamPlan, RetryBudget>();
  const names = createNameLookup({ find: findAddresses, maxAgeMs: lookupEveryMs });
  let wanted: ReadonlySet<string> | undefined;
  const following = setInterval(() => {
    for (const route of open.values()) void route.follow();
  }, lookupEveryMs).unref();

  function create(key: string, origin: string, upstream: UpstreamPlan): OpenRoute {
    const sockets = new Set<Socket>();
    const onSocket = (socket: Socket): void => {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
    };
    const reach = createReach(origin, upstream, { names, onSocket, ca });
    const { http2 } = upstream;
    const options: ClientOptions = {
      connect: reach.connect,
      allowH2: http2,
      pipelining: 1,
      keepAliveTimeout: IDLE_MS,
      keepAliveMaxTimeout: 60_000,
      keepAliveTimeoutThreshold: 1_000,
    };
    const openPool = (): Pool => {
      const made = new Pool(origin, {
        ...options,
        connections: upstream.connections.max,
        factory: (url) => openClient(url, options),
      });
      // Without a listener undici's own error events would end the process; each request gets its error anyway.
      made.on('connectionError', () => undefined);
      return made;
    };
    let pool = openPool();
    let retired = false;
    const dispatchFresh: Route['dispatchFresh'] = (asked, handler) => {
      const fresh = openClient(origin, options);
      fresh.dispatch(asked, handler);
      fresh.close(() => undefined);
    };
    const route: OpenRoute = {
      origin,
      gate: createGate(),
      agent: reach.agent,
      dispatch(asked, handler) {
        // It waited for its place while the plan that wanted this route was replaced.
        if (retired) dispatchFresh(asked, handler);
        else pool.dispatch(asked, handler);
      },
      dispatchFresh,
      dispatched() {
        if (wanted !== undefined && !wanted.has(key)) drop(key);
      },
      async follow() {
        if (reach.hostName === undefined) return;
        const addresses = await names.renew(reach.hostName);
        if (addresses === undefined || open.get(key) !== route) return;
        const known = new Set(addresses.map(({ address }) => address));
        if ([...sockets].every(({ remoteAddress = '' }) => known.has(remoteAddress))) return;
        const before = pool;
        pool = openPool();
        before.close(() => undefined);
      },
      retire() {
        retired = true;
        pool.close(() => undefined);
      },
      destroy: () => pool.destroy(),
    };
    open.set(key, route);
    return route;
  }

  function drop(key: string): void {
    const route = open.get(key);
    if (route === undefined) return;
    open.delete(key);
    route.retire();
  }

  return {
    route(upstream, { origin }) {
      const key = keyOf(origin, upstream);
      return open.get(key) ?? create(key, origin, upstream);
    },
    budget(upstream) {
      let budget = budgets.get(upstream);
      if (budget === undefined) {
        budget = createRetryBudget(() => performance.now());
        budgets.set(upstream, budget);
      }
      return budget;
    },
    *keepSteps(plan) {
      // Until it is known what the plan wants, nothing that its requests open is let go.
      wanted = undefined;
      const keys = new Set<string>();
      for (const api of plan.apis) {
        for (const { upstream } of api.versions.values()) {
          if (upstream === undefined) continue;
          for (const { origin } of upstream.targets) keys.add(keyOf(origin, upstream));
          yield;
        }
      }
      wanted = keys;
      for (const key of open.keys()) if (!keys.has(key)) drop(key);
    },
    size: () => open.size,
    async close() {
      clearInterval(following);
      const routes = [...open.values()];
      open.clear();
      await Promise.all(routes.map(({ destroy }) => destroy()));
    },
  };
}

const manners = new WeakMap<UpstreamPlan, string>();

/** What two upstreams must agree on to share connections to one address. */
function keyOf(origin: string, upstream: UpstreamPlan): string {
  let manner = manners.get(upstream);
  if (manner === undefined) {
    const { timeouts, connections, http2, host = '', tls = {} } = upstream;
    const facts = JSON.stringify([timeouts.connect, connections.max, http2, host, tls]);
    manner = createHash('sha256').update(facts).digest('hex');
    manners.set(upstream, manner);
  }
  return `${origin} ${manner}`;
}
