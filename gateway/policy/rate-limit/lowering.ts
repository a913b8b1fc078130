// The lowered limit of a deprecated version (RL-11), computed when a plan is compiled.
// The pipeline only picks between the two limits by stage.
import type { Limit } from './limit.ts';

export type Lowering =
  /** A part of the base, for example 0.5. */
  | { readonly kind: 'factor'; readonly factor: number }
  | { readonly kind: 'absolute'; readonly units: number; readonly windowMs: number };

/** Never below one unit, never a burst above the units; a factor never raises the base. Shown as the policy `deprecated`. */
export function lowerLimit(base: Limit, by: Lowering): Limit {
  switch (by.kind) {
    case 'factor': {
      const units = scale(base.units, by.factor);
      return {
        name: 'deprecated',
        units,
        windowMs: base.windowMs,
        burst: Math.min(scale(base.burst, by.factor), units),
      };
    }
    case 'absolute': {
      const units = Math.max(1, by.units);
      return { name: 'deprecated', units, windowMs: by.windowMs, burst: Math.min(base.burst, units) };
    }
    default: {
      const never: never = by;
      throw new Error(`unhandled lowering ${JSON.stringify(never)}`);
    }
  }
}

/** Whole units, rounded down; the small addend undoes binary fractions such as 100 × 0.29 = 28.999999999999996. */
function scale(count: number, factor: number): number {
  return Math.min(count, Math.max(1, Math.floor(count * factor + 1e-9)));
}
