// A shared store whose every answer the fallback hears, so that what a caller has used up there is used up here as well.
// Below the leases: one call for many requests. Put together where the stores are opened.
import { emissionInterval } from '../policy/rate-limit/gcra.ts';
import type { RateLimitStore, Take, Taken } from '../policy/rate-limit/limit.ts';
import type { EmbeddedRateLimitStore } from './embedded/rate-limit.ts';

/**
 * `store`, with `local` told of each bucket. A fallback that began full would give a caller a new part of its limit each time
 * that the store goes away. Bounded as `local` is. Of a sliding log nothing is told: an answer does not say when its units
 * were taken.
 */
export function heardBy(local: Pick<EmbeddedRateLimitStore, 'drain'>, store: RateLimitStore): RateLimitStore {
  const hear = (take: Take, taken: Taken | undefined): void => {
    if (taken === undefined || take.limit.algorithm === 'sliding-log') return;
    local.drain(take, untilFullMs(take, taken));
  };
  return {
    ...store,
    take: async (take) => {
      const taken = await store.take(take);
      hear(take, taken);
      return taken;
    },
    takeAll: async (takes) => {
      const answers = await store.takeAll(takes);
      for (const [index, take] of takes.entries()) hear(take, answers[index]);
      return answers;
    },
  };
}

/** A part of a limit fills in the time in which the whole does: its units come more slowly, and there are fewer. */
function untilFullMs({ limit }: Take, { remaining, resetMs }: Taken): number {
  const afterNext = ((limit.burst - 1) * emissionInterval(limit)) / 1000;
  return remaining === 0 ? afterNext + resetMs : resetMs;
}
