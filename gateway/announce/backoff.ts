// Exponential backoff for a failed channel, up to an hour.
import type { MonotonicMs } from '../policy/contract.ts';

export interface Backoff {
  readonly isReady: () => boolean;
  readonly failed: () => void;
  readonly succeeded: () => void;
}

const FIRST_MS = 60_000;
const LONGEST_MS = 60 * 60_000;

export function createBackoff(now: () => MonotonicMs): Backoff {
  let failures = 0;
  let until = Number.NEGATIVE_INFINITY;
  return {
    isReady: () => now() >= until,
    failed: () => {
      // One second less than the interval of the checks, so that the next check is not skipped.
      until = now() + Math.min(LONGEST_MS, FIRST_MS * 2 ** failures) - 1_000;
      failures += 1;
    },
    succeeded: () => {
      failures = 0;
      until = Number.NEGATIVE_INFINITY;
    },
  };
}
