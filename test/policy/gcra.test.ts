// GCRA: how much it admits, and whether its numbers are true.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { emissionInterval, gcra } from '../../gateway/policy/rate-limit/gcra.ts';
import type { Limit } from '../../gateway/policy/rate-limit/limit.ts';
import { bucket, five, limits } from './drawn-limits.ts';

describe('GCRA', () => {
  it('RL-9: follows the reference sequence for five units in ten seconds', () => {
    const take = bucket(five);
    const times = [0, 0, 0, 0, 0, 0, 1, 2, 2, 10];
    const seen = times.map((second) => {
      const { allowed, remaining, retryAfterMs } = take(second * 1000);
      return allowed ? `r=${remaining}` : `retry ${retryAfterMs / 1000}`;
    });
    expect(seen).toEqual(['r=4', 'r=3', 'r=2', 'r=1', 'r=0', 'retry 2', 'retry 1', 'r=0', 'retry 2', 'r=3']);
  });

  it('RL-9: reset is the time until full, or until the next unit if none is left', () => {
    const take = bucket(five);
    expect([0, 0, 0, 0, 0, 0].map((now) => take(now).resetMs)).toEqual([2000, 4000, 6000, 8000, 2000, 2000]);
  });

  it('RL-9: a refusal stores nothing and so costs nothing', () => {
    expect(gcra(10_000_000, five, 1, 0).tat).toBeUndefined();
  });

  it('takes the whole cost or nothing', () => {
    const take = bucket(five);
    expect(take(0, 4)).toMatchObject({ allowed: true, remaining: 1 });
    expect(take(0, 2)).toMatchObject({ allowed: false, remaining: 1, retryAfterMs: 2000 });
    expect(take(0, 1)).toMatchObject({ allowed: true, remaining: 0 });
    expect(bucket(five)(0, 6).allowed).toBe(false);
  });

  it('does not refuse for long after a clock is set back or a reload lowers the limit', () => {
    const take = bucket(five);
    take(3_600_000);
    expect(take(0)).toMatchObject({ allowed: false, retryAfterMs: 2000 });
    expect(take(2000).allowed).toBe(true);
  });

  it('RL-10: never exceeds a rate that does not divide its window', () => {
    expect(emissionInterval({ ...five, units: 7, windowMs: 60_000 })).toBe(8_571_429);
  });

  it('RL-8: never admits more than burst + elapsed/T in any period', () => {
    const gap = fc.oneof(
      fc.constant(0),
      fc.integer({ min: 0, max: 50 }),
      fc.integer({ min: 0, max: 100_000 }),
    );
    fc.assert(
      fc.property(
        limits,
        fc.array(fc.tuple(gap, fc.integer({ min: 1, max: 3 })), { maxLength: 60 }),
        (limit, steps) => {
          const take = bucket(limit);
          const admitted: { now: number; cost: number }[] = [];
          let now = 1_780_272_000_000;
          for (const [wait, cost] of steps) {
            now += wait;
            if (take(now, cost).allowed) admitted.push({ now, cost });
          }
          admitted.forEach((first, from) => {
            let sum = 0;
            for (const each of admitted.slice(from)) {
              sum += each.cost;
              expect(sum).toBeLessThanOrEqual(
                limit.burst + ((each.now - first.now) * 1000) / emissionInterval(limit),
              );
            }
          });
        },
      ),
    );
  });

  it.each<[rate: string, Limit, elapsedMs: number, passed: number]>([
    ['5/10s at the first instant', five, 0, 5],
    ['5/10s until just before the first unit is back', five, 1_999, 5],
    ['5/10s when the first unit is back', five, 2_000, 6],
    ['5/10s for a window', five, 10_000, 10],
    ['5/10s with a burst of 1', { ...five, burst: 1 }, 10_000, 6],
    ['5/10s with a burst of 20', { ...five, burst: 20 }, 10_000, 25],
    ['600/1m with a burst of 100 for 7 s', { ...five, units: 600, windowMs: 60_000, burst: 100 }, 7_000, 170],
    ['7/1m, which does not divide its window', { ...five, units: 7, windowMs: 60_000, burst: 7 }, 60_000, 13],
    ['1/1d for a day and an hour', { ...five, units: 1, windowMs: 86_400_000, burst: 1 }, 90_000_000, 2],
  ])(
    'RL-8: %s admits exactly burst + floor(elapsed/T) of a constant stream',
    (_rate, limit, elapsed, passed) => {
      const interval = emissionInterval(limit) / 1_000;
      expect(limit.burst + Math.floor(elapsed / interval)).toBe(passed);
      const take = bucket(limit);
      const instants = Array.from(
        { length: Math.floor((4 * elapsed) / interval) + 1 },
        (_, at) => (at * interval) / 4,
      );
      const asked = [...Array<number>(limit.burst).fill(0), ...instants, elapsed];
      expect(asked.filter((at) => take(at).allowed).length).toBe(passed);
    },
  );

  it('remaining units can be taken, and a refused client is admitted after the delay', () => {
    fc.assert(
      fc.property(limits, fc.integer({ min: 0, max: 20 }), (limit, used) => {
        const take = bucket(limit);
        const now = 1_780_272_000_000;
        let taken = take(now);
        for (let count = 0; count < used; count += 1) taken = take(now);
        expect(taken.remaining).toBeGreaterThanOrEqual(0);
        if (taken.remaining > 0) expect(take(now, taken.remaining).allowed).toBe(true);
        const refused = take(now);
        expect(refused).toMatchObject({ allowed: false, remaining: 0 });
        expect(refused.retryAfterMs).toBeGreaterThan(0);
        expect(refused.retryAfterMs).toBe(refused.resetMs);
        expect(take(now + refused.retryAfterMs).allowed).toBe(true);
      }),
    );
  });
});
