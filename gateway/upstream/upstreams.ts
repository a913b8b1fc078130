// The services behind the gateway as they are reached: which of their targets is chosen, and over which connections.
// Opened by gateway.ts, which tells it of each plan; both ways of forwarding use what it holds.
import type { GatewayPlan } from '../plan/plan.ts';
import { createProbe } from '../plane/general/client/health-probe.ts';
import { createPools, type PoolOptions, type Pools } from './pools.ts';
import { realClock } from './targets/target-clock.ts';
import { createTargets, type Targets, type TargetsOptions } from './targets/targets.ts';

export interface Upstreams {
  readonly pools: Pools;
  readonly targets: Targets;
  /** Short steps at whose end it goes by `plan`, one plan at a time; requests under way keep what they have. */
  readonly keepSteps: (plan: GatewayPlan) => Generator<void, void>;
  /** Ends every check and every connection at once. */
  readonly close: () => Promise<void>;
}

export type UpstreamsOptions = Pick<TargetsOptions, 'onChange'> & PoolOptions;

export function openUpstreams({ onChange, ...options }: UpstreamsOptions): Upstreams {
  const pools = createPools(options);
  const targets = createTargets({
    probe: createProbe(pools),
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
