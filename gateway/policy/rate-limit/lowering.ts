// Computes the lowered limits of deprecated versions and operations (RL-11).
import { DAY_MS, type EpochMs } from '../contract.ts';
import { parseRate, parseShare } from '../notation.ts';
import type { Limit, LimitRule } from './limit.ts';

export type Lowering =
  | { readonly kind: 'factor'; readonly factor: number }
  | { readonly kind: 'absolute'; readonly units: number; readonly windowMs: number }
  /** From one fraction of the base on the first day to another on the last day before the sunset. */
  | { readonly kind: 'curve'; readonly from: number; readonly to: number };

/** `50%` (1 to 100) or a rate. Undefined for any other text. */
export function parseLowering(text: string): Lowering | undefined {
  const factor = parseShare(text);
  if (factor !== undefined) return { kind: 'factor', factor };
  const absolute = parseRate(text);
  return absolute && { kind: 'absolute', ...absolute };
}

/** Names of a limit that has no name in the policy file: as declared, and lowered. */
export const DEFAULT_LIMIT = 'default';
export const LOWERED_DEFAULT = 'deprecated';

/** Ten years of days: all steps are computed when the plan is compiled. */
const MAX_STEPS = 3_650;

/** At least one unit, and never a burst above the units. A factor never raises the base. The result has its own name. */
export function lowerLimit(base: Limit, by: Lowering): Limit {
  switch (by.kind) {
    case 'factor':
      return scaleLimit(base, by.factor);
    case 'curve':
      return scaleLimit(base, by.from);
    case 'absolute': {
      const units = Math.max(1, by.units);
      // The burst of a sliding log equals its units.
      const burst = base.algorithm === 'sliding-log' ? units : Math.min(base.burst, units);
      return loweredTo(base, { units, windowMs: by.windowMs, burst });
    }
    default:
      return by satisfies never;
  }
}

/**
 * The steps of a curve, one per day from the deprecation to the sunset, at equal distances between the two factors. A
 * period of at most a day has only the first step. Undefined without a curve or without both dates.
 */
export function lowerByCurve(
  base: Limit,
  by: Lowering,
  between: { readonly deprecated: EpochMs | undefined; readonly sunset: EpochMs | undefined },
): LimitRule['curve'] {
  const { deprecated, sunset } = between;
  if (by.kind !== 'curve' || deprecated === undefined || sunset === undefined) return undefined;
  const days = Math.min(MAX_STEPS, Math.max(1, Math.ceil((sunset - deprecated) / DAY_MS)));
  const fall = days === 1 ? 0 : (by.to - by.from) / (days - 1);
  const steps = Array.from({ length: days }, (_, step) => scaleLimit(base, by.from + fall * step));
  return { from: deprecated, steps };
}

/** The lowered limit in force at `now`. Steps change at whole days after the deprecation instant. */
export function loweredAt(
  { deprecated, curve }: Pick<LimitRule, 'deprecated' | 'curve'>,
  now: EpochMs,
): Limit {
  if (curve === undefined) return deprecated;
  const step = Math.floor((now - curve.from) / DAY_MS);
  return curve.steps[Math.min(Math.max(step, 0), curve.steps.length - 1)] ?? deprecated;
}

/** Each lowered limit gets its own name, because each counts in a bucket of its own (RL-11). */
export function loweredTo(base: Limit, to: Pick<Limit, 'units' | 'windowMs' | 'burst'>): Limit {
  const name = base.name === DEFAULT_LIMIT ? LOWERED_DEFAULT : `${base.name}-${LOWERED_DEFAULT}`;
  return { ...base, ...to, name };
}

export function isLowered({ name }: Limit): boolean {
  return name === LOWERED_DEFAULT || name.endsWith(`-${LOWERED_DEFAULT}`);
}

function scaleLimit(base: Limit, factor: number): Limit {
  const units = scale(base.units, factor);
  const burst = Math.min(scale(base.burst, factor), units);
  return loweredTo(base, { units, windowMs: base.windowMs, burst });
}

/** Rounds down. The small addend corrects binary fractions such as 100 × 0.29 = 28.999999999999996. */
function scale(count: number, factor: number): number {
  return Math.min(count, Math.max(1, Math.floor(count * factor + 1e-9)));
}
