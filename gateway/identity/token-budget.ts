// How many tokens that turn out to be none each client address may have asked about (RL-7).
// Asked by introspection-verifier.ts before each question; a token in the cache costs nothing.
import type { EpochMs } from '../policy/contract.ts';
import { createRecentMap } from './recent-map.ts';

/** Of these at least the last half is remembered; an address that is forgotten begins again with a whole budget. */
const MOST_ADDRESSES = 20_000;
const MOST_CHARACTERS = 1_000_000;

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
  const spentBy = createRecentMap<Spent>(MOST_ADDRESSES, MOST_CHARACTERS);

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
