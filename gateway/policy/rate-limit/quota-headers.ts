// The quota of an answer as header lines: the specification's pair and the RateLimit draft's pair.
// Called when an answer is decorated, refused or not.
import type { HeaderLine } from '../contract.ts';
import type { Quota } from './limit.ts';

export interface QuotaLines {
  /** Singletons, in place of the upstream's own. */
  readonly replace: readonly HeaderLine[];
  /** Lists, after the members of the upstream (RL-5). */
  readonly append: readonly HeaderLine[];
}

const NO_LINES: QuotaLines = { replace: [], append: [] };

/** RL-2, RL-3: the lines of a counted quota, refused or not; none when the store is away, since they would be made up (RL-13). */
export function quotaLines(quota: Quota): QuotaLines {
  if (quota.kind !== 'counted') return NO_LINES;
  const { name, units, windowMs } = quota.limit;
  const remaining = String(quota.remaining);
  return {
    replace: [
      ['x-ratelimit-limit', String(units)],
      ['x-ratelimit-remaining', remaining],
    ],
    append: [
      ['ratelimit-policy', `"${name}";q=${units};w=${seconds(windowMs)}`],
      ['ratelimit', `"${name}";r=${remaining};t=${seconds(quota.resetMs)}`],
    ],
  };
}

/** The draft has whole seconds, and a window of 0 is not allowed; rounding up never promises more than is there. */
function seconds(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1000));
}
