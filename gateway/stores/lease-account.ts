// The arithmetic of leases for one bucket: units held, units expired, and what the store can have at most.
import { emissionInterval } from '../policy/rate-limit/gcra.ts';
import type { Limit, Taken } from '../policy/rate-limit/limit.ts';

/** Share of the remaining units that one call may take: other gateways lack what this one holds. */
const SHARE_OF_REMAINDER = 1 / 10;
/**
 * Share of the possible lease that each gateway takes if several share the bucket. If each took all of it in
 * turn, that would be too much.
 */
const SHARE_OF_SEVERAL = 1 / 2;
/**
 * A lease of which fewer units were used is not renewed ahead: the renewal would cost a unit that another
 * request needs.
 */
const MIN_USE_FOR_RENEWAL = 4;
/** The part of a lease's units, or of its life, that is left when it is renewed ahead. */
const LAST_PART = 1 / 4;
const MAX_LIFE_MS = 1000;
const LIVES_PER_WINDOW = 60;
/** Keeps a whole number of units whole after a division; far smaller than a unit. */
const ROUNDING = 1e-6;

interface Lease {
  left: number;
  readonly sentAt: number;
  /** When the bucket would be full if no more units were taken. */
  fullAt: number;
}

/** Instants and durations in milliseconds of one monotonic clock. */
export interface LeaseAccount {
  readonly limit: Limit;
  /**
   * Expires units that exceed the bucket's debt. If the last answer is too old, the remaining units wait for
   * the next one. Must be called before a new take and before `recordAnswer`.
   */
  readonly expire: (at: number) => void;
  /**
   * Takes from the leases, or refuses if the known state suffices; undefined if the store must be called.
   * `required` is set for a take that has waited for the store: the units that its answer must have shown.
   * Such a take is refused however late the answer came.
   */
  readonly take: (cost: number, at: number, required?: number) => Taken | undefined;
  /** The result of `take`, with nothing taken and the numbers before the take. */
  readonly preview: (cost: number, at: number, required?: number) => Taken | undefined;
  /** Unspent units; 0 while they wait for an answer of the store. */
  readonly held: () => number;
  readonly wasRefused: () => boolean;
  /** Units that `cost` needs beyond the leases. */
  readonly missing: (cost: number) => number;
  /** Units to take from the store. `queued`: units of all waiting takes, of which the first needs `need`. */
  readonly sizeFor: (need: number, queued: number, at: number) => number;
  /** True once per lease, when it is time to fetch the next one ahead. */
  readonly takeRenewal: (at: number) => boolean;
  /** Records the store's answer to a take of `cost` units sent at `sentAt`. */
  readonly recordAnswer: (answer: Taken, cost: number, sentAt: number) => void;
}

export function openLeaseAccount(limit: Limit): LeaseAccount {
  const interval = emissionInterval(limit) / 1000;
  const capacity = limit.burst * interval;
  const lifeMs = Math.min(MAX_LIFE_MS, limit.windowMs / LIVES_PER_WINDOW);
  // The bucket refills this much in the life of a lease, so an idle lease costs its subject nothing.
  const maxUnits = Math.floor(lifeMs / interval);

  let leases: Lease[] = [];
  /** Units held after the last call. */
  let size = 0;
  let used = 0;
  /** Units that expired since the last call and are in the bucket again. */
  let refilled = 0;
  let expectedUse = 1;
  let remainingInStore = Number.POSITIVE_INFINITY;
  /**
   * When the bucket is empty, according to the last answer. k units are there at `emptyAt + k * interval` or
   * later.
   */
  let emptyAt = Number.NEGATIVE_INFINITY;
  let renewAt = Number.NEGATIVE_INFINITY;
  let renewed = false;
  /** When the last answer becomes too old. */
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

  /** Units that a bucket lacks until it is full. No more units of a lease than that can be outstanding. */
  const unitsUntilFull = (fullAt: number, at: number): number =>
    Math.max(0, Math.floor((fullAt - at) / interval + ROUNDING));

  const spend = (cost: number): void => {
    let unpaid = cost;
    for (const lease of leases) {
      const part = Math.min(lease.left, unpaid);
      lease.left -= part;
      unpaid -= part;
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
    // If the remaining units suffice for this take, they belong to the takes queued before it.
    const known = answer(false, Math.max(0, readyAt - at), at);
    return { ...known, remaining: Math.min(known.remaining, cost - 1) };
  };

  /** The use since the last call, or twice the lease if nearly all of it was used. */
  const learnUse = (at: number): void => {
    if (used >= size * (1 - LAST_PART)) expectedUse = Math.max(expectedUse, 2 * size);
    else if (at >= renewAt) expectedUse = Math.max(1, used);
  };

  return {
    limit,
    expire: (at) => {
      for (const lease of leases) {
        const left = Math.min(lease.left, unitsUntilFull(lease.fullAt, at));
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
      // A lease expires as fast as its bucket refills, so it lasts for its whole life if the bucket then
      // lacks `maxUnits` units.
      const lasting = (maxUnits - unitsUntilFull(emptyAt + capacity, at)) * (shared ? SHARE_OF_SEVERAL : 1);
      const available = Math.min(limit.burst, remainingInStore);
      const usual = Math.min(
        maxUnits,
        Math.floor(available * SHARE_OF_REMAINDER),
        Math.max(1, Math.ceil(lasting), expectedUse - unspent()),
      );
      return Math.max(need, Math.min(limit.burst, Math.max(usual, queued)));
    },
    takeRenewal: (at) => {
      if (renewed || used < MIN_USE_FOR_RENEWAL) return false;
      if (at < renewAt && held() > size * LAST_PART) return false;
      renewed = true;
      return true;
    },
    recordAnswer: (taken, cost, sentAt) => {
      const wait = taken.remaining === 0 ? taken.resetMs - interval : taken.resetMs - capacity;
      emptyAt = sentAt + wait;
      endsAt = sentAt + lifeMs;
      remainingInStore = taken.remaining;
      refused = !taken.allowed;
      refilled = 0;
      const fullAt = emptyAt + capacity;
      const fullBefore = taken.allowed ? fullAt - cost * interval : fullAt;
      for (const lease of leases) {
        // This lease was requested later, but its answer came first.
        if (lease.sentAt > sentAt) continue;
        // If the bucket fills earlier than after this lease was taken, the store lost data or got units back.
        // The lease loses as many.
        lease.left -= Math.min(lease.left, unitsUntilFull(lease.fullAt, fullBefore));
        lease.fullAt = Math.min(lease.fullAt, fullBefore);
      }
      leases = leases.filter((lease) => lease.left > 0);
      confirmed = true;
      if (!taken.allowed) return;
      leases.push({ left: cost, sentAt, fullAt });
      size = held();
      shared = unitsUntilFull(fullAt, sentAt) - size - used > maxUnits * LAST_PART;
      used = 0;
      renewed = false;
      renewAt = sentAt + Math.min(lifeMs, fullAt - sentAt) * (1 - LAST_PART);
    },
  };
}
