// The sliding log, and several limits of both algorithms in process.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { emissionInterval, slidingLog } from '../../gateway/policy/rate-limit/gcra.ts';
import type { Limit, Take } from '../../gateway/policy/rate-limit/limit.ts';
import {
  createEmbeddedRateLimitStore,
  type EmbeddedRateLimitStore,
} from '../../gateway/stores/embedded/rate-limit.ts';

describe('the sliding log', () => {
  const log = (units: number, windowMs: number): Limit => ({
    ...{ name: 'login', units, windowMs, burst: units },
    algorithm: 'sliding-log',
  });

  it('RL-8: admits exactly its units in any window, and refuses none while units are left', () => {
    const gap = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 40 }), fc.integer({ min: 0, max: 2000 }));
    const walk = fc.array(fc.tuple(gap, fc.integer({ min: 1, max: 3 })), { maxLength: 60 });
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 8 }),
        fc.integer({ min: 1, max: 1000 }),
        walk,
        (units, window, steps) => {
          const kept: number[] = [];
          const admitted: number[] = [];
          let now = 1_780_272_000_000;
          for (const [wait, cost] of steps) {
            now += wait;
            const inWindow = admitted.filter((at) => at > now - window).length;
            const { taken, at } = slidingLog(kept, log(units, window), cost, now);
            expect(taken.allowed).toBe(inWindow + cost <= units);
            expect(taken.remaining).toBe(units - inWindow - (taken.allowed ? cost : 0));
            for (let unit = 0; taken.allowed && unit < cost; unit += 1) {
              kept.push(at);
              admitted.push(now);
            }
            expect(kept.length).toBeLessThanOrEqual(units);
          }
        },
      ),
    );
  });

  it('admits a refused client after the delay', () => {
    const kept = [0, 400_000, 900_000];
    const limit = log(3, 1000);
    const refused = slidingLog(kept, limit, 2, 900).taken;
    expect(refused).toMatchObject({ allowed: false, remaining: 0, retryAfterMs: 500, resetMs: 100 });
    expect(slidingLog(kept, limit, 2, 900 + refused.retryAfterMs).taken.allowed).toBe(true);
  });

  it('never admits a cost above its units', () => {
    expect(slidingLog([], log(3, 1000), 4, 0).taken).toMatchObject({ allowed: false, retryAfterMs: 1000 });
  });

  it('does not refuse for long after the clock was set back', () => {
    const kept = [3_600_000_000];
    expect(slidingLog(kept, log(1, 1000), 1, 0).taken).toMatchObject({ allowed: false, retryAfterMs: 1000 });
    expect(slidingLog(kept, log(1, 1000), 1, 1000).taken.allowed).toBe(true);
  });
});

describe('several limits in process', () => {
  const drawn = fc.array(
    fc.record({
      algorithm: fc.constantFrom('gcra' as const, 'sliding-log' as const),
      units: fc.integer({ min: 1, max: 12 }),
      windowMs: fc.integer({ min: 1, max: 4000 }),
      burst: fc.integer({ min: 1, max: 12 }),
      isShared: fc.boolean(),
    }),
    { minLength: 1, maxLength: 4 },
  );
  const walk = fc.array(
    fc.record({ wait: fc.nat(300), caller: fc.nat(2), cost: fc.constantFrom(1, 1, 1, 2) }),
    { maxLength: 80 },
  );

  it('RL-8: each admits at most burst + elapsed/T, or its units in any window', () => {
    fc.assert(
      fc.property(drawn, walk, (shapes, steps) => {
        let now = 0;
        const store = createEmbeddedRateLimitStore({ now: () => now });
        const limits = shapes.map(({ algorithm, units, windowMs, burst }, index): Limit => {
          const name = `limit-${index}`;
          return algorithm === 'gcra'
            ? { name, units, windowMs, burst }
            : { name, units, windowMs, burst: units, algorithm };
        });
        const admitted = new Map<string, { at: number; cost: number; limit: Limit }[]>();
        for (const { wait, caller, cost } of steps) {
          now += wait;
          const takes = limits.map((limit, index) => ({
            key: `{${shapes[index]?.isShared ? 'everyone' : caller}}:${limit.name}`,
            limit,
            cost,
          }));
          const before = takes.map((take) => look(store, take));
          const taken = store.takeAll(takes);
          if (!taken.every(({ allowed }) => allowed)) {
            expect(takes.map((take) => look(store, take))).toEqual(before);
            continue;
          }
          for (const { key, limit } of takes)
            admitted.set(key, [...(admitted.get(key) ?? []), { at: now, cost, limit }]);
        }
        for (const each of admitted.values()) expectPromise(each);
      }),
    );
  });

  /** A bucket never gives more than it can contain. */
  function look(store: EmbeddedRateLimitStore, { key, limit }: Take): number {
    return store.take({ key, limit, cost: 1_000_000 }).remaining;
  }

  function expectPromise(admitted: readonly { at: number; cost: number; limit: Limit }[]): void {
    admitted.forEach((first, from) => {
      let sum = 0;
      for (const { at, cost, limit } of admitted.slice(from)) {
        const isLog = limit.algorithm === 'sliding-log';
        if (isLog && at - first.at >= limit.windowMs) return;
        sum += cost;
        const most = isLog
          ? limit.units
          : limit.burst + ((at - first.at) * 1000) / emissionInterval(limit) + 1e-6;
        expect(sum).toBeLessThanOrEqual(most);
      }
    });
  }
});
