// Limits that fall towards the sunset: one step a day, never below one unit, never up again.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Limit, LimitRule } from '../../gateway/policy/rate-limit/limit.ts';
import { lowerByCurve, loweredAt, lowerLimit } from '../../gateway/policy/rate-limit/lowering.ts';

const DAY = 86_400_000;
const DEPRECATED = Date.UTC(2026, 0, 15);
const BASE: Limit = { name: 'default', units: 1000, windowMs: 60_000, burst: 200 };

function rules(base: Limit, from: number, to: number, days: number): LimitRule {
  const curve = { kind: 'curve', from, to } as const;
  return {
    active: base,
    deprecated: lowerLimit(base, curve),
    curve: lowerByCurve(base, curve, { deprecated: DEPRECATED, sunset: DEPRECATED + days * DAY }),
    buckets: { active: 'orders:v1:default', deprecated: 'orders:v1:deprecated' },
    by: 'consumer',
    onStoreFailure: 'local',
    exact: false,
    shadow: false,
  };
}

describe('a curve', () => {
  it.each<[string, number, number]>([
    ['before the deprecation', -DAY, 500],
    ['at the deprecation instant', 0, 500],
    ['at the end of the first day', DAY - 1, 500],
    ['on the second day', DAY, 390],
    ['on the fifth and last day', 4 * DAY, 60],
    ['for a caller with an exception from the sunset', 900 * DAY, 60],
  ])('RL-11: %s', (_, after, units) => {
    expect(loweredAt(rules(BASE, 0.5, 0.06, 5), DEPRECATED + after)).toMatchObject({
      name: 'deprecated',
      units,
    });
  });

  it('RL-11: lowers the burst too, never above the units', () => {
    expect(loweredAt(rules(BASE, 0.5, 0.05, 2), DEPRECATED)).toMatchObject({ units: 500, burst: 100 });
    expect(loweredAt(rules(BASE, 0.5, 0.05, 2), DEPRECATED + DAY)).toMatchObject({ units: 50, burst: 10 });
  });

  it('stays at its first step without a sunset', () => {
    const by = { kind: 'curve', from: 0.5, to: 0.05 } as const;
    expect(lowerByCurve(BASE, by, { deprecated: DEPRECATED, sunset: undefined })).toBeUndefined();
    expect(lowerLimit(BASE, by).units).toBe(500);
  });

  it('does not exist for a share or a rate', () => {
    const between = { deprecated: DEPRECATED, sunset: DEPRECATED + DAY };
    expect(lowerByCurve(BASE, { kind: 'factor', factor: 0.5 }, between)).toBeUndefined();
    expect(lowerByCurve(BASE, { kind: 'absolute', units: 5, windowMs: 1000 }, between)).toBeUndefined();
  });

  it('RL-11: falls daily from its first share to its last, never below one', () => {
    const share = fc.integer({ min: 1, max: 100 }).map((percent) => percent / 100);
    const drawn = fc.record({
      a: share,
      b: share,
      days: fc.integer({ min: 1, max: 800 }),
      units: fc.nat(5000),
    });
    fc.assert(
      fc.property(drawn, ({ a, b, days, units }) => {
        const base = { ...BASE, units: units + 1, burst: units + 1 };
        const [from, to] = [Math.max(a, b), Math.min(a, b)];
        const falling = rules(base, from, to, days);
        let before = base.units;
        for (let day = 0; day <= days; day += 1) {
          const limit = loweredAt(falling, DEPRECATED + day * DAY);
          expect(limit.units).toBeLessThanOrEqual(before);
          expect(limit.units).toBeGreaterThanOrEqual(1);
          expect(limit.burst).toBeGreaterThanOrEqual(1);
          before = limit.units;
        }
        expect(before).toBe(lowerLimit(base, { kind: 'factor', factor: days === 1 ? from : to }).units);
      }),
    );
  });
});
