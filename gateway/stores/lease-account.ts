// The arithmetic of leases for one bucket: what is held, what lapses, what the store can have at best.
import { emissionInterval } from '../policy/rate-limit/gcra.ts';
import type { Limit, Taken } from '../policy/rate-limit/limit.ts';

/** What one call may take of the units there are: what one gateway holds, the others lack. */
const SHARE_OF_REMAINDER = 1 / 10;
/** What each of several gateways takes of what keeps their leases alive: all of it would be too much, in turns. */
const SHARE_OF_SEVERAL = 1 / 2;
/** A lease of which fewer units were used is not renewed ahead: the renewal would be another request's unit. */
const LEAST_USE_RENEWED_AHEAD = 4;
/** Of a lease's units, or of its life, when it is renewed ahead. */
const LAST_PART = 1 / 4;
const LONGEST_LIFE_MS = 1000;
const LIVES_PER_WINDOW = 60;
/** Keeps a whole number of units whole after a division; far below what a unit is. */
const ROUNDING = 1e-6;

interface Lease {
  left: number;
  readonly sentAt: number;
  /** When the bucket would be full again if no more were taken. */
  fullAt: number;
}

/** Instants and durations in milliseconds of one monotonic clock. */
export interface LeaseAccount {
  readonly limit: Limit;
  /**
   * Ends units that could not be in a bucket of this size. If the last answer is too old, the others wait for the next one.
   * To be called before a new take and before `enter`.
   */
  readonly lapse: (at: number) => void;
  /**
   * Serves a take from the leases, or refuses it from what is known; undefined when the store must be asked. `claim`: of a take
   * that has waited for the store's answer, the units there must have been. A refusal stands however long it was on its way.
   */
  readonly take: (cost: number, at: number, required?: number) => Taken | undefined;
  /** What `take` would answer, with nothing taken: the numbers are those before it. */
  readonly preview: (cost: number, at: number, required?: number) => Taken | undefined;
  /** Unspent units, 0 while they wait for an answer of the store. */
  readonly held: () => number;
  readonly wasRefused: () => boolean;
  /** Units beyond the leases that `cost` needs. */
  readonly missing: (cost: number) => number;
  /** How many units to ask the store for while `queued` wait, of which the first needs `need`. */
  readonly sizeFor: (need: number, queued: number, at: number) => number;
  /** True once per lease, when it is time to fetch the next one ahead. */
  readonly takeRenewal: (at: number) => boolean;
  /** Enters the store's answer to `asked`, sent at `sentAt`. */
  readonly enter: (answer: Taken, cost: number, sentAt: number) => void;
}

export function openLeaseAccount(limit: Limit): LeaseAccount {
  const interval = emissionInterval(limit) / 1000;
  const capacity = limit.burst * interval;
  const life = Math.min(LONGEST_LIFE_MS, limit.windowMs / LIVES_PER_WINDOW);
  // What the bucket refills in a lease's life: an idle lease then costs its subject nothing.
  const largest = Math.floor(life / interval);

  let leases: Lease[] = [];
  /** Units held after the last call, and those used since. */
  let size = 0;
  let used = 0;
  /** Units that lapsed since the last call, and are in the bucket again. */
  let refilled = 0;
  /** Units that will be used in a lease's life. */
  let expectedUse = 1;
  let remainingInStore = Number.POSITIVE_INFINITY;
  /** When the bucket holds no unit, seen from the last answer: k units are there at `emptyAt + k * interval`, or later. */
  let emptyAt = Number.NEGATIVE_INFINITY;
  let renewAt = Number.NEGATIVE_INFINITY;
  let renewed = false;
  /** Until when the last answer is relied on. */
  let endsAt = Number.NEGATIVE_INFINITY;
  /** Whether the unspent units may be spent, or wait for an answer. */
  let confirmed = false;
  let refused = false;
  let shared = false;

  const unspent = (): number => {
    let units = 0;
    for (const lease of leases) units += lease.left;
    return units;
  };

  const held = (): number => (confirmed ? unspent() : 0);

  /** Units that a bucket lacks of being full, if no more are taken: so many of a lease can be outstanding. */
  const lacking = (fullAt: number, at: number): number =>
    Math.max(0, Math.floor((fullAt - at) / interval + ROUNDING));

  const spend = (cost: number): void => {
    let open = cost;
    for (const lease of leases) {
      const part = Math.min(lease.left, open);
      lease.left -= part;
      open -= part;
    }
    used += cost;
  };

  const answer = (allowed: boolean, retryAfterMs: number, at: number): Taken => {
    const units = held();
    const remaining = remainingInStore + units + (allowed ? refilled : 0);
    const reset = remaining === 0 ? emptyAt + interval - at : emptyAt + capacity - at - units * interval;
    return { allowed, remaining, retryAfterMs, resetMs: Math.max(0, reset) };
  };

  const preview = (cost: number, at: number, required?: number): Taken | undefined => {
    const units = held();
    if (units >= cost) return answer(true, 0, at);
    const readyAt = emptyAt + (cost - units) * interval;
    if (at < readyAt && (required !== undefined || at < endsAt)) return answer(false, readyAt - at, at);
    if (required === undefined || units + remainingInStore >= required) return undefined;
    // What there is, if it is enough, is for those before it.
    const known = answer(false, Math.max(0, readyAt - at), at);
    return { ...known, remaining: Math.min(known.remaining, cost - 1) };
  };

  /** As much as was used since the last call, twice as much if that was nearly all there was. */
  const learnUse = (at: number): void => {
    if (used >= size * (1 - LAST_PART)) expectedUse = Math.max(expectedUse, 2 * size);
    else if (at >= renewAt) expectedUse = Math.max(1, used);
  };

  return {
    limit,
    lapse: (at) => {
      for (const lease of leases) {
        const left = Math.min(lease.left, lacking(lease.fullAt, at));
        refilled += lease.left - left;
        lease.left = left;
      }
      confirmed = at < endsAt;
    },
    take: (cost, at, required) => {
      if (held() < cost) return preview(cost, at, required);
      spend(cost);
      return answer(true, 0, at);
    },
    preview,
    held,
    wasRefused: () => refused,
    missing: (cost) => Math.max(0, cost - held()),
    sizeFor: (need, queued, at) => {
      learnUse(at);
      // A lease lapses as fast as its bucket refills, so it lasts for its life if the bucket then lacks `largest`.
      const lasting = (largest - lacking(emptyAt + capacity, at)) * (shared ? SHARE_OF_SEVERAL : 1);
      const there = Math.min(limit.burst, remainingInStore);
      const usual = Math.min(
        largest,
        Math.floor(there * SHARE_OF_REMAINDER),
        Math.max(1, Math.ceil(lasting), expectedUse - unspent()),
      );
      return Math.max(need, Math.min(limit.burst, Math.max(usual, queued)));
    },
    takeRenewal: (at) => {
      if (renewed || used < LEAST_USE_RENEWED_AHEAD) return false;
      if (at < renewAt && held() > size * LAST_PART) return false;
      renewed = true;
      return true;
    },
    enter: (taken, cost, sentAt) => {
      const wait = taken.remaining === 0 ? taken.resetMs - interval : taken.resetMs - capacity;
      emptyAt = sentAt + wait;
      endsAt = sentAt + life;
      remainingInStore = taken.remaining;
      refused = !taken.allowed;
      refilled = 0;
      const fullAt = emptyAt + capacity;
      const fullBefore = taken.allowed ? fullAt - cost * interval : fullAt;
      for (const lease of leases) {
        // This answer was overtaken by the lease.
        if (lease.sentAt > sentAt) continue;
        // If the bucket lacked less than after the lease was taken, the store lost the difference or got it back.
        lease.left -= Math.min(lease.left, lacking(lease.fullAt, fullBefore));
        lease.fullAt = Math.min(lease.fullAt, fullBefore);
      }
      leases = leases.filter((lease) => lease.left > 0);
      confirmed = true;
      if (!taken.allowed) return;
      leases.push({ left: cost, sentAt, fullAt });
      size = held();
      shared = lacking(fullAt, sentAt) - size - used > largest * LAST_PART;
      used = 0;
      renewed = false;
      renewAt = sentAt + Math.min(life, fullAt - sentAt) * (1 - LAST_PART);
    },
  };
}
