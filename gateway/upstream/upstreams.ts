// The targets, connections, concurrency limits and retry budgets of all upstreams.
import { createHash } from 'node:crypto';
import type { GatewayPlan, Target, UpstreamPlan } from '../plan/plan.ts';
import type { ConnectTarget, TargetConnections } from './call.ts';
import { type ConcurrencyLimit, createConcurrencyLimit } from './concurrency-limit.ts';
import { createDeadlines, processClock, type StartDeadline } from './deadlines.ts';
import { createNameLookup, type FindAddresses, hostNameOf } from './name-lookup.ts';
import { createRetryBudget, type RetryBudget } from './retry.ts';
import type { Probe } from './targets/health-checks.ts';
import { createTargets, type Targets, type TargetsOptions } from './targets/targets.ts';

export interface Upstreams<C extends TargetConnections = TargetConnections> {
  readonly pools: Pools<C>;
  readonly targets: Targets;
  readonly startDeadline: StartDeadline;
  /** Switches to `plan` in short steps, one plan at a time. Running requests keep their connections. */
  readonly keepSteps: (plan: GatewayPlan) => Generator<void, void>;
  readonly close: () => Promise<void>;
}

export function openUpstreams<C extends TargetConnections>({
  onChange,
  ...options
}: Pick<TargetsOptions, 'onChange'> & Omit<PoolOptions<C>, 'startDeadline'>): Upstreams<C> {
  const startDeadline = createDeadlines(processClock);
  const pools = createPools({ ...options, startDeadline });
  const targets = createTargets({
    probe: probeThrough(pools),
    clock: processClock,
    random: Math.random,
    onChange,
  });
  return {
    pools,
    targets,
    startDeadline,
    *keepSteps(plan) {
      // In this order, so that connections to a new target are kept from the first request on.
      yield* pools.keepSteps(plan);
      yield* targets.keepSteps(plan);
    },
    async close() {
      targets.close();
      await pools.close();
    },
  };
}

/** A health check neither waits for a slot nor uses one, because a busy target is not a failed one. */
export function probeThrough(pools: Pick<Pools, 'route'>): Probe {
  return (check) => {
    const { connections, dispatched } = pools.route(check.upstream, check.target);
    const found = connections.probe(check);
    dispatched();
    return found;
  };
}

export interface UpstreamRoute<C extends TargetConnections = TargetConnections> {
  readonly limit: ConcurrencyLimit;
  readonly connections: C;
  /** Call it after the call has started. Connections that no plan uses close after their calls. */
  readonly dispatched: () => void;
}

export interface Pools<C extends TargetConnections = TargetConnections> {
  readonly route: (upstream: UpstreamPlan, target: Target) => UpstreamRoute<C>;
  readonly budget: (upstream: UpstreamPlan) => RetryBudget;
  /** At the end of the steps, closes all connections that `plan` does not use, after their calls. */
  readonly keepSteps: (plan: GatewayPlan) => Generator<void, void>;
  readonly size: () => number;
  readonly close: () => Promise<void>;
}

export interface PoolOptions<C extends TargetConnections> {
  readonly connect: ConnectTarget<C>;
  readonly startDeadline: StartDeadline;
  readonly findAddresses?: FindAddresses;
  /** In milliseconds. */
  readonly lookupEveryMs?: number;
}

interface OpenRoute<C extends TargetConnections> extends UpstreamRoute<C> {
  readonly hostName: string | undefined;
}

/** The system's resolver follows the TTL of a name. The gateway follows this much later. */
const LOOKUP_EVERY_MS = 30_000;

export function createPools<C extends TargetConnections>({
  connect,
  startDeadline,
  findAddresses,
  lookupEveryMs = LOOKUP_EVERY_MS,
}: PoolOptions<C>): Pools<C> {
  const open = new Map<string, OpenRoute<C>>();
  const budgets = new WeakMap<UpstreamPlan, RetryBudget>();
  const names = createNameLookup({ find: findAddresses, maxAgeMs: lookupEveryMs });
  let planned: ReadonlySet<string> | undefined;
  const lookupTimer = setInterval(() => {
    for (const [key, route] of open) void follow(key, route);
  }, lookupEveryMs).unref();

  function create(key: string, origin: string, upstream: UpstreamPlan): OpenRoute<C> {
    const route: OpenRoute<C> = {
      hostName: hostNameOf(origin),
      limit: createConcurrencyLimit(startDeadline),
      connections: connect(origin, upstream, { names, startDeadline }),
      dispatched() {
        if (planned !== undefined && !planned.has(key)) drop(key);
      },
    };
    open.set(key, route);
    return route;
  }

  /** Closes connections to addresses that the name no longer has. */
  async function follow(key: string, route: OpenRoute<C>): Promise<void> {
    if (route.hostName === undefined) return;
    const addresses = await names.renew(route.hostName);
    if (addresses === undefined || open.get(key) !== route) return;
    route.connections.follow(new Set(addresses.map(({ address }) => address)));
  }

  function drop(key: string): void {
    const route = open.get(key);
    if (route === undefined) return;
    open.delete(key);
    route.connections.retire();
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
      // Until the targets of the plan are known, connections opened by requests stay open.
      planned = undefined;
      const keys = new Set<string>();
      for (const api of plan.apis) {
        for (const { upstream } of api.versions.values()) {
          if (upstream === undefined) continue;
          for (const { origin } of upstream.targets) keys.add(keyOf(origin, upstream));
          yield;
        }
      }
      planned = keys;
      for (const key of open.keys()) if (!keys.has(key)) drop(key);
    },
    size: () => open.size,
    async close() {
      clearInterval(lookupTimer);
      const routes = [...open.values()];
      open.clear();
      await Promise.all(routes.map(({ connections }) => connections.destroy()));
    },
  };
}

/** By origin. The keys are cached, because a string caches its own hash. */
const keys = new WeakMap<UpstreamPlan, Map<string, string>>();

/** Upstreams with the same key share connections. */
function keyOf(origin: string, upstream: UpstreamPlan): string {
  let known = keys.get(upstream);
  if (known === undefined) {
    known = new Map();
    keys.set(upstream, known);
  }
  let key = known.get(origin);
  if (key === undefined) {
    const { timeouts, connections, http2, host = '', tls = {} } = upstream;
    const facts = JSON.stringify([timeouts.connect, connections.max, http2, host, tls]);
    key = `${origin} ${createHash('sha256').update(facts).digest('hex')}`;
    known.set(origin, key);
  }
  return key;
}
