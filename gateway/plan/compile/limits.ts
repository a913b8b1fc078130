// The limits of one version or operation: its own, else those of the next larger whole; the lowered ones worked out.
// Part of compiling one version; the pipeline only picks.
import type { Limit, LimitRules } from '../../policy/rate-limit/limit.ts';
import { type Lowering, lowerAlong, lowerLimit } from '../../policy/rate-limit/lowering.ts';
import { writtenLimits } from '../../policy/rate-limit/section.ts';
import type { PolicyFile, VersionFile } from '../grammar/policy-grammar.ts';

type Written = VersionFile['limits'];
/** As written, where nothing is said of having none. */
type Limits = Exclude<Written, 'off'>;

export interface LimitsOf {
  readonly label: string;
  readonly version: Written;
  readonly schedule: Parameters<typeof lowerAlong>[2];
  readonly operation?: { readonly name: string; readonly limits: Written; readonly hasDates: boolean };
}

/** Undefined when neither the API nor the version nor the operation sets a rate. */
export function compileLimits(file: PolicyFile, of: LimitsOf): LimitRules | undefined {
  const { limits } = file;
  const { label, operation, schedule } = of;
  const nearestFirst = upToOff([operation?.limits, of.version, limits]);
  const base = baseOf(nearestFirst);
  if (base === undefined) return undefined;
  const lowering = nearestFirst.find((each) => each?.deprecated !== undefined)?.deprecated;
  const apart = operation === undefined ? label : `${label} ${operation.name}`;
  const own = writtenLimits(operation?.limits);
  return {
    active: base,
    deprecated: lowering === undefined ? base : lowered(base, lowering, isInherited(nearestFirst)),
    curve: lowering && lowerAlong(base, lowering, schedule),
    scopes: {
      // Counted apart only where it differs, so that an operation is no way to a second helping of the same limit.
      active: own?.rate === undefined && own?.burst === undefined ? label : apart,
      deprecated: own === undefined && !operation?.hasDates ? label : apart,
    },
    by: limits?.by ?? (file.access === 'public' ? 'address' : 'consumer'),
    onStoreFailure: limits?.on_store_failure ?? 'local',
    exact: limits?.exact ?? false,
  };
}

/** Beyond an `off` nothing is taken over. */
function upToOff(nearestFirst: readonly Written[]): readonly Limits[] {
  const off = nearestFirst.indexOf('off');
  return (off < 0 ? nearestFirst : nearestFirst.slice(0, off)).map(writtenLimits);
}

/** A burst belongs to the rate beside it: whoever has a rate of its own does not take the larger whole's burst. */
function baseOf(nearestFirst: readonly Limits[]): Limit | undefined {
  let burst: number | undefined;
  for (const each of nearestFirst) {
    burst ??= each?.burst;
    if (each?.rate !== undefined) {
      const { units, windowMs } = each.rate;
      return { name: 'default', units, windowMs, burst: burst ?? units };
    }
  }
  return undefined;
}

/** Whether the rate is nearer than the lowering, which then was written with another rate in mind. */
function isInherited(nearestFirst: readonly Limits[]): boolean {
  const rate = nearestFirst.findIndex((each) => each?.rate !== undefined);
  return rate < nearestFirst.findIndex((each) => each?.deprecated !== undefined);
}

/** A rate taken over from the larger whole must not raise a smaller one: deprecation never gives more room. */
function lowered(base: Limit, lowering: Lowering, inherited: boolean): Limit {
  const raises =
    lowering.kind === 'absolute' && lowering.units * base.windowMs > base.units * lowering.windowMs;
  return raises && inherited ? { ...base, name: 'deprecated' } : lowerLimit(base, lowering);
}
