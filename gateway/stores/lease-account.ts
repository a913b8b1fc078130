// The arithmetic of leases for one bucket: what is held, what lapses, what the store can have at best.
// leases.ts keeps one account per key and fetches leases for it; nothing here waits.
//
// Never more than the limit: units are taken before they are spent, and unspent ones lapse one by one as the bucket
// fills up, so at every moment bucket + all leases <= burst, whoever else takes from the bucket. What lapses is only
// what a full bucket could not have held.
import { emissionInterval } from '../policy/rate-limit/gcra.ts';
import type { Limit, Taken } from '../policy/rate-limit/limit.ts';

const LARGEST_LEASE = 100;
const LEASES_PER_REMAINDER = 10;
/** A smaller lease is not renewed ahead: that would be another request's unit. */
const SMALLEST_RENEWED_AHEAD = 4;
const LONGEST_LIFE_MS = 1000;
const LIVES_PER_WINDOW = 60;
/** Keeps a whole number of units whole after a division; far below what a unit is. */
const ROUNDING = 1e-6;

interface Lease {
  left: number;
  spent: number;
  renewed: boolean;
  readonly units: number;
  /** When the bucket would be full again if nobody took more. */
  readonly fullAt: number;
  readonly endsAt: number;
}

/** Instants and durations in milliseconds of one monotonic clock. */
export interface LeaseAccount {
  readonly limit: Limit;
  /** Ends what is too old or could not be in a bucket of this size; to be called before a new take and before `enter`. */
  readonly lapse: (at: number) => void;
  /**
   * Serves a take from the leases, or refuses it from what is known; undefined when the store must be asked. `claim`: of a take
   * that has waited for the store's answer, the units there must have been. A refusal stands however long it was on its way.
   */
  readonly take: (cost: number, at: number, claim?: number) => Taken | undefined;
  /** What `take` would answer, with nothing taken: the numbers are those before it. */
  readonly look: (cost: number, at: number, claim?: number) => Taken | undefined;
  /** Units in its leases. */
  readonly held: () => number;
  /** Whether the store refused what it was asked for last. */
  readonly wasRefused: () => boolean;
  /** Units beyond the leases that `cost` needs. */
  readonly missing: (cost: number) => number;
  /** How many units to ask the store for while `queued` wait, of which the first needs `need`. */
  readonly sizeFor: (need: number, queued: number) => number;
  /** True once per lease, when it is time to fetch the next one ahead. */
  readonly claimRenewal: () => boolean;
  /** Enters the store's answer to `asked`, sent at `sentAt`. */
  readonly enter: (answer: Taken, asked: number, sentAt: number) => void;
}

export function openLeaseAccount(limit: Limit): LeaseAccount {
  const interval = emissionInterval(limit) / 1000;
  const capacity = limit.burst * interval;
  const life = Math.min(LONGEST_LIFE_MS, limit.windowMs / LIVES_PER_WINDOW);
  // What the bucket refills in a lease's life: an idle lease then costs its subject nothing.
  const largest = Math.min(LARGEST_LEASE, limit.burst, Math.floor(life / interval));

  let leases: Lease[] = [];
  /**
   * What a lease may hold beyond what is waited for: as much as was used of one of which units were lost, twice as much once
   * one is used up. Several gateways would else lose what a caller leaves of each, and with it more than it refills.
   */
  let worth = largest;
  let remainingInStore = Number.POSITIVE_INFINITY;
  /** When the bucket holds no unit, seen from the last answer: k units are there at `emptyAt + k * interval`, or later. */
  let emptyAt = Number.NEGATIVE_INFINITY;
  /** Until when that is relied on to refuse: a store may be emptied by hand. */
  let knownUntil = Number.NEGATIVE_INFINITY;
  let refused = false;

  const held = (): number => {
    let units = 0;
    for (const lease of leases) units += lease.left;
    return units;
  };

  /** Units that the bucket lacks of being full, if nobody took more: so many of a lease can be outstanding. */
  const fitting = ({ fullAt }: Lease, at: number): number =>
    Math.max(0, Math.floor((fullAt - at) / interval + ROUNDING));

  const spend = (cost: number): void => {
    let open = cost;
    for (const lease of leases) {
      const part = Math.min(lease.left, open);
      lease.left -= part;
      lease.spent += part;
      open -= part;
      if (part > 0 && lease.spent * 4 >= lease.units * 3) worth = Math.max(worth, 2 * lease.units);
    }
  };

  const answer = (allowed: boolean, retryAfterMs: number, at: number): Taken => {
    const units = held();
    const remaining = remainingInStore + units;
    const reset = remaining === 0 ? emptyAt + interval - at : emptyAt + capacity - at - units * interval;
    return { allowed, remaining, retryAfterMs, resetMs: Math.max(0, reset) };
  };

  const look = (cost: number, at: number, claim?: number): Taken | undefined => {
    const units = held();
    if (units >= cost) return answer(true, 0, at);
    const readyAt = emptyAt + (cost - units) * interval;
    if (at < readyAt && (claim !== undefined || at < knownUntil)) return answer(false, readyAt - at, at);
    if (claim === undefined || units + remainingInStore >= claim) return undefined;
    // What there is, if it is enough, is for those before it.
    const known = answer(false, Math.max(0, readyAt - at), at);
    return { ...known, remaining: Math.min(known.remaining, cost - 1) };
  };

  return {
    limit,
    lapse: (at) => {
      for (const lease of leases) {
        lease.left = Math.min(lease.left, fitting(lease, Math.min(at, lease.endsAt)));
        if (at < lease.endsAt) continue;
        // Lost: what lapses before could not have been in a full bucket.
        if (lease.left > 0) worth = Math.max(1, lease.units - lease.left);
        lease.left = 0;
      }
    },
    take: (cost, at, claim) => {
      if (held() < cost) return look(cost, at, claim);
      spend(cost);
      return answer(true, 0, at);
    },
    look,
    held,
    wasRefused: () => refused,
    missing: (cost) => Math.max(0, cost - held()),
    sizeFor: (need, queued) => {
      // Whatever the demand: a lease lapses as fast as its bucket refills, so a small one is gone before it is used.
      const usual = Math.min(largest, worth, Math.floor(remainingInStore / LEASES_PER_REMAINDER));
      return Math.max(need, Math.min(LARGEST_LEASE, limit.burst, Math.max(usual, queued)));
    },
    claimRenewal: () => {
      const newest = leases.at(-1);
      if (newest === undefined || newest.renewed || newest.units < SMALLEST_RENEWED_AHEAD) return false;
      if (held() > newest.units / 4) return false;
      newest.renewed = true;
      return true;
    },
    enter: (taken, asked, sentAt) => {
      const wait = taken.remaining === 0 ? taken.resetMs - interval : taken.resetMs - capacity;
      emptyAt = sentAt + wait;
      knownUntil = sentAt + life;
      remainingInStore = taken.remaining;
      refused = !taken.allowed;
      if (!taken.allowed) return;
      leases = leases.filter((lease) => lease.left > 0);
      leases.push({
        left: asked,
        spent: 0,
        units: asked,
        renewed: false,
        fullAt: emptyAt + capacity,
        endsAt: sentAt + life,
      });
    },
  };
}
