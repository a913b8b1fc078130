// The services behind the gateway as they are reached: which of their targets is chosen, and over which connections.
// Opened by gateway.ts, which tells it of each plan; both ways of forwarding use what it holds.
import type { GatewayPlan } from '../plan/plan.ts';
import type { TargetConnections } from './call.ts';
import { createPools, type PoolOptions, type Pools } from './pools.ts';
import type { Probe, TargetClock } from './targets/health-checks.ts';
import { createTargets, type Targets, type TargetsOptions } from './targets/targets.ts';

export interface Upstreams<C extends TargetConnections = TargetConnections> {
  readonly pools: Pools<C>;
  readonly targets: Targets;
  /** Short steps at whose end it goes by `plan`, one plan at a time; requests under way keep what they have. */
  readonly keepSteps: (plan: GatewayPlan) => Generator<void, void>;
  /** Ends every check and every connection at once. */
  readonly close: () => Promise<void>;
}

const realClock: TargetClock = {
  now: () => performance.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms).unref();
    return () => clearTimeout(timer);
  },
};

export function openUpstreams<C extends TargetConnections>({
  onChange,
  ...options
}: Pick<TargetsOptions, 'onChange'> & PoolOptions<C>): Upstreams<C> {
  const pools = createPools(options);
  const targets = createTargets({
    probe: probeThrough(pools),
    clock: realClock,
    random: Math.random,
    onChange,
  });
  return {
    pools,
    targets,
    *keepSteps(plan) {
      // In this order: a connection to a new target is kept from the first request on.
      yield* pools.keepSteps(plan);
      yield* targets.keepSteps(plan);
    },
    async close() {
      targets.close();
      await pools.close();
    },
  };
}

/** Neither waits for a place at the target nor takes one: a busy target is not a dead one. */
export function probeThrough(pools: Pick<Pools, 'route'>): Probe {
  return (check) => {
    const { connections, dispatched } = pools.route(check.upstream, check.target);
    const found = connections.probe(check);
    dispatched();
    return found;
  };
}
