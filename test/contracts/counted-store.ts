// A counting in-memory store, for the tests of the leases in front of it.
import { expect } from 'vitest';
import { StoreUnavailable } from '../../gateway/policy/contract.ts';
import { emissionInterval } from '../../gateway/policy/rate-limit/gcra.ts';
import type { Limit, RateLimitStore } from '../../gateway/policy/rate-limit/limit.ts';
import { createEmbeddedRateLimitStore } from '../../gateway/stores/embedded/rate-limit.ts';
import { limitOf } from './rate-limit-store.ts';

export const busy = limitOf(600, 60_000);

/** In-memory buckets with a clock set by the test; records the costs of the calls that reach them. */
export function countedStore() {
  const clock = { time: 5000 };
  const now = (): number => clock.time;
  const buckets = createEmbeddedRateLimitStore({ now });
  const calls: number[] = [];
  const together: (readonly string[])[] = [];
  const state = { broken: false };
  const inner: RateLimitStore = {
    take: async (take) => {
      calls.push(take.cost);
      if (state.broken) throw new StoreUnavailable('away');
      return buckets.take(take);
    },
    takeAll: async (takes) => {
      calls.push(...takes.slice(0, 1).map(({ cost }) => cost));
      together.push(takes.map(({ key }) => key));
      if (state.broken) throw new StoreUnavailable('away');
      return buckets.takeAll(takes);
    },
  };
  return { clock, now, inner, calls, together, state };
}

export const taking = (store: Pick<RateLimitStore, 'take'>, limit: Limit) => (cost?: number) =>
  store.take({ key: 'k', limit, cost: cost ?? 1 });

/** Waits until background calls have run. */
export const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/**
 * In every period from one admission to a later one: units <= burst + elapsed/T.
 * This is true exactly if a bucket of that size, filled at that rate, never runs below empty.
 */
export function expectWithin(
  limit: Limit,
  admitted: readonly { readonly at: number; readonly cost: number }[],
): void {
  const interval = emissionInterval(limit) / 1000;
  let level = limit.burst;
  let last = admitted[0]?.at ?? 0;
  for (const { at, cost } of admitted) {
    level = Math.min(limit.burst, level + (at - last) / interval) - cost;
    last = at;
    if (level < -1e-3) expect.fail(`${-level} units too many`);
  }
}
