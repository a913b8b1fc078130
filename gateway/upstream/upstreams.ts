// The services behind the gateway as they are reached: which of their targets is chosen, and over which connections.
// Opened by gateway.ts, which tells it of each plan; both ways of forwarding use what it holds.
import type { GatewayPlan } from '../plan/plan.ts';
import type { TargetConnections } from './call.ts';
import { createDeadlines, processClock, type StartDeadline } from './deadlines.ts';
import { createPools, type PoolOptions, type Pools } from './pools.ts';
import type { Probe } from './targets/health-checks.ts';
import { createTargets, type Targets, type TargetsOptions } from './targets/targets.ts';

export interface Upstreams<C extends TargetConnections = TargetConnections> {
  readonly pools: Pools<C>;
  readonly targets: Targets;
  readonly startDeadline: StartDeadline;
  /** Short steps at whose end it goes by `plan`, one plan at a time; requests under way keep what they have. */
  readonly keepSteps: (plan: GatewayPlan) => Generator<void, void>;
  /** Ends every check and every connection at once. */
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

/** Neither waits for a slot of the target nor takes one: a busy target is not a dead one. */
export function probeThrough(pools: Pick<Pools, 'route'>): Probe {
  return (check) => {
    const { connections, dispatched } = pools.route(check.upstream, check.target);
    const found = connections.probe(check);
    dispatched();
    return found;
  };
}
