// How many tokens that turn out to be none each client address may have asked about (RL-7).
// Asked by introspection-verifier.ts before each question; a token in the cache costs nothing.
import { LRUCache } from 'lru-cache';
import type { EpochMs } from '../policy/contract.ts';

/** Addresses remembered; the longest unused are forgotten first, and begin again with a whole budget. */
const MOST_ADDRESSES = 10_000;

const BUDGET = { units: 60, windowMs: 60_000 };

interface Spent {
  readonly units: number;
  readonly at: EpochMs;
}

export interface TokenBudget {
  /** Takes one unit; undefined if that was possible, else the seconds until it is. */
  readonly take: (address: string) => number | undefined;
  /** For a token that is one, or that nothing was learnt about. */
  readonly giveBack: (address: string) => void;
}

export function createTokenBudget(now: () => EpochMs): TokenBudget {
  const { units, windowMs } = BUDGET;
  const spentBy = new LRUCache<string, Spent>({ max: MOST_ADDRESSES });

  const spent = (address: string): number => {
    const last = spentBy.get(address);
    const elapsed = last === undefined ? Number.POSITIVE_INFINITY : now() - last.at;
    // A clock that was set back refuses nothing.
    if (last === undefined || elapsed < 0) return 0;
    return Math.max(0, last.units - (elapsed * units) / windowMs);
  };

  return {
    take(address) {
      const after = spent(address) + 1;
      if (after > units) return Math.max(1, Math.ceil(((after - units) * windowMs) / units / 1_000));
      spentBy.set(address, { units: after, at: now() });
      return undefined;
    },
    giveBack(address) {
      spentBy.set(address, { units: Math.max(0, spent(address) - 1), at: now() });
    },
  };
}
