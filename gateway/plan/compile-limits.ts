// The limits of one version: its own, else those of the API; the lowered one for its deprecation worked out.
// Part of compiling one version; the pipeline only picks between the two.
import type { Limit, LimitRules } from '../policy/rate-limit/limit.ts';
import { lowerLimit } from '../policy/rate-limit/lowering.ts';
import type { PolicyFile, VersionFile } from './policy-grammar.ts';

/** Undefined when neither the API nor the version sets a rate. */
export function compileLimits(file: PolicyFile, own: VersionFile['limits']): LimitRules | undefined {
  const limits = file.limits;
  const rate = own?.rate ?? limits?.rate;
  if (rate === undefined) return undefined;
  // A burst belongs to the rate beside it: a version with a rate of its own does not take the API's burst.
  const burst = own?.burst ?? (own?.rate === undefined ? limits?.burst : undefined) ?? rate.units;
  const active: Limit = { name: 'default', units: rate.units, windowMs: rate.windowMs, burst };
  const lowering = own?.deprecated ?? limits?.deprecated;
  return {
    active,
    deprecated: lowering === undefined ? active : lowerLimit(active, lowering),
    by: limits?.by ?? (file.access === 'public' ? 'address' : 'consumer'),
    onStoreFailure: limits?.on_store_failure ?? 'local',
    exact: limits?.exact ?? false,
  };
}
