// A bucket and limits for tests: five units in ten seconds, or random ones.
import fc from 'fast-check';
import { gcra } from '../../gateway/policy/rate-limit/gcra.ts';
import type { Limit, Taken } from '../../gateway/policy/rate-limit/limit.ts';

/** Keeps the state as a store does. */
export function bucket(limit: Limit) {
  let tat: number | undefined;
  return (now: number, cost = 1): Taken => {
    const outcome = gcra(tat, limit, cost, now);
    tat = outcome.tat ?? tat;
    return outcome.taken;
  };
}

export const five: Limit = { name: 'default', units: 5, windowMs: 10_000, burst: 5 };

export const limits = fc
  .record({
    units: fc.integer({ min: 1, max: 5000 }),
    windowMs: fc.integer({ min: 1, max: 86_400_000 }),
    burst: fc.integer({ min: 1, max: 5000 }),
  })
  .map(
    ({ units, windowMs, burst }): Limit => ({
      name: 'default',
      units,
      windowMs,
      burst: Math.min(burst, units),
    }),
  );
