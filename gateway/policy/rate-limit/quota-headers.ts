// The quota of an answer as header lines: the specification's pair and the RateLimit draft's pair.
// Called when an answer is decorated, refused or not.
import type { HeaderLine } from '../contract.ts';
import type { Quota } from './limit.ts';

const NO_LINES: readonly HeaderLine[] = [];

/** RL-2, RL-3: four lines for a counted quota, refused or not; none when the store is away, since they would be made up (RL-13). */
export function quotaLines(quota: Quota): readonly HeaderLine[] {
  if (quota.kind !== 'counted') return NO_LINES;
  const { name, units, windowMs } = quota.limit;
  const remaining = String(quota.remaining);
  return [
    ['x-ratelimit-limit', String(units)],
    ['x-ratelimit-remaining', remaining],
    ['ratelimit-policy', `"${name}";q=${units};w=${seconds(windowMs)}`],
    ['ratelimit', `"${name}";r=${remaining};t=${seconds(quota.resetMs)}`],
  ];
}

/** The draft has whole seconds, and a window of 0 is not allowed; rounding up never promises more than is there. */
function seconds(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1000));
}
