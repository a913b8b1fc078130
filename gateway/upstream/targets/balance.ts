// The three ways to choose a target in service by its share of requests or callers.

export interface BalancedTarget {
  /** For the hash of `byCaller`. Equal for the same address in every gateway. */
  readonly seed: number;
  readonly inFlight: number;
  /** The share of past choices that it did not get yet; updated by `nextByShare`. */
  credit: number;
}

/** `now` is passed through, so that a choice needs no closure. */
type Weight<C> = (candidate: C, now: number) => number;

/** Smooth weighted round robin. */
export function roundRobin<C extends BalancedTarget>(
  candidates: readonly C[],
  share: Weight<C>,
  now: number,
): C {
  return nextByShare(candidates, share, now, Number.POSITIVE_INFINITY);
}

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

/** The candidate with the fewest running requests for its share. Equal candidates take turns. */
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
 * Weighted rendezvous hashing: if a candidate comes or goes, only its own keys move. A growing share moves keys singly.
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

/** FNV-1a over UTF-16 code units, mixed to an unsigned 32-bit value. Not for secrets. */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1)
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return mix(hash);
}

/** Spreads every bit over all others (finaliser of MurmurHash3). */
function mix(value: number): number {
  let mixed = value;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
