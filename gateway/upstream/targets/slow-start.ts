// The share of a target that has come back: small at first, whole after the upstream's `slow_start`.
// Read by the balancers for each candidate of a request.

/** Above nothing, so that a target alone in its first moment is chosen like any other. */
const LEAST_SHARE = 0.001;

/**
 * Between 0 and 1, linear in time. Milliseconds.
 * @param since when the target came back; undefined: it has been there all along
 */
export function shareOf(since: number | undefined, slowStart: number, now: number): number {
  if (since === undefined || slowStart === 0) return 1;
  return Math.min(1, Math.max(LEAST_SHARE, (now - since) / slowStart));
}
