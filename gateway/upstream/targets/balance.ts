// The three ways to choose among targets in service, each giving a target its share of requests or of callers.

export interface BalancedTarget {
  /** For the hash of `byCaller`: the same for the same address in every gateway. */
  readonly seed: number;
  readonly inFlight: number;
  /** What it is owed of the turns taken so far; kept by `byTurn`. */
  credit: number;
}

/** `now`: passed on as it was given, so that no function has to be made for a choice. */
type Weight<C> = (candidate: C, now: number) => number;

/** Round robin in which each candidate comes as often as its share says, evenly spread. */
export function roundRobin<C extends BalancedTarget>(
  candidates: readonly C[],
  share: Weight<C>,
  now: number,
): C {
  return nextByShare(candidates, share, now, Number.POSITIVE_INFINITY);
}

/** Among those with a load of `most` at the most; the others keep what they are owed. */
function nextByShare<C extends BalancedTarget>(
  candidates: readonly C[],
  share: Weight<C>,
  now: number,
  most: number,
): C {
  let total = 0;
  let best: C | undefined;
  for (const candidate of candidates) {
    const own = share(candidate, now);
    if (loadOf(candidate, own) > most) continue;
    total += own;
    candidate.credit += own;
    if (best === undefined || candidate.credit > best.credit) best = candidate;
  }
  if (best === undefined) throw new RangeError('no candidates');
  best.credit -= total;
  return best;
}

/** The candidate with the fewest requests under way for its share; among equals by turn. */
export function leastLoaded<C extends BalancedTarget>(
  candidates: readonly C[],
  share: Weight<C>,
  now: number,
): C {
  let least = Number.POSITIVE_INFINITY;
  for (const candidate of candidates) least = Math.min(least, loadOf(candidate, share(candidate, now)));
  return nextByShare(candidates, share, now, least);
}

const loadOf = ({ inFlight }: BalancedTarget, share: number): number => (inFlight + 1) / share;

/**
 * The same candidate for the same key: weighted rendezvous hashing. Where a candidate comes or goes, the keys of no other
 * change places among the rest, and those of a growing share come one by one.
 */
export function byCaller<C extends BalancedTarget>(
  candidates: readonly C[],
  share: Weight<C>,
  now: number,
  key: string,
): C {
  const hash = hashOf(key);
  let best: C | undefined;
  let highest = Number.NEGATIVE_INFINITY;
  for (const candidate of candidates) {
    // Between 0 and 1, both excluded.
    const drawn = (mix(hash ^ candidate.seed) + 0.5) / 2 ** 32;
    const score = -share(candidate, now) / Math.log(drawn);
    if (score > highest) {
      best = candidate;
      highest = score;
    }
  }
  if (best === undefined) throw new RangeError('no candidates');
  return best;
}

/** FNV-1a over UTF-16 code units, mixed: 32 bits, unsigned. Not for secrets. */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1)
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return mix(hash);
}

/** Spreads every bit over all others (the finaliser of MurmurHash3). */
function mix(value: number): number {
  let mixed = value;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
