// How many requests of an upstream may be sent once more: a share of the recent ones, and one per second in any case.
// Asked before each retry, so that a service in trouble does not get its load twice (FWD-16).
import type { MonotonicMs } from '../policy/contract.ts';

const SLOTS = 10;
const SLOT_MS = 1_000;

export interface RetryBudget {
  readonly onRequest: () => void;
  /** Whether one more retry is within `share` of the requests of the last ten seconds; if so it is counted. */
  readonly take: (share: number) => boolean;
}

/** `monotonic`: milliseconds. */
export function createRetryBudget(monotonic: () => MonotonicMs): RetryBudget {
  const requests = new Uint32Array(SLOTS);
  const retries = new Uint32Array(SLOTS);
  let current = Math.floor(monotonic() / SLOT_MS);

  function slot(): number {
    const now = Math.floor(monotonic() / SLOT_MS);
    for (let passed = Math.max(current + 1, now - SLOTS + 1); passed <= now; passed += 1) {
      requests[passed % SLOTS] = 0;
      retries[passed % SLOTS] = 0;
    }
    current = now;
    return now % SLOTS;
  }

  return {
    onRequest() {
      const at = slot();
      requests[at] = (requests[at] ?? 0) + 1;
    },
    take(share) {
      const at = slot();
      const used = sum(retries);
      if (used >= Math.max(SLOTS, Math.floor(sum(requests) * share))) return false;
      retries[at] = (retries[at] ?? 0) + 1;
      return true;
    },
  };
}

function sum(counts: Uint32Array): number {
  let total = 0;
  for (const count of counts) total += count;
  return total;
}
