// Caches in this process when each consumer was first seen on a frozen version.
import { type EpochMs, type MaybePromise, type MonotonicMs, StoreUnavailable } from '../policy/contract.ts';
import type { Adoption, FirstSeen, LedgerStore, VersionConsumer } from '../policy/usage/ledger.ts';

export type AdoptionRecords = Pick<LedgerStore, 'firstSeen'>;

/** Without a ledger no calls are counted, so no consumer is refused as late. */
export const WITHOUT_LEDGER: AdoptionRecords = {
  firstSeen: () => ({ at: undefined, countedSince: undefined }),
};

export type FrozenVersion = Pick<VersionConsumer, 'api' | 'version'>;

/**
 * Why a consumer cannot be judged: the store is unavailable, or the ledger counts this version only since the
 * freeze or later.
 */
export type Unjudged = 'store_away' | 'counted_since';

export interface AdoptionOptions {
  readonly now: () => MonotonicMs;
  /** Called for each request that is admitted because its consumer cannot be judged. */
  readonly onUnjudged: (version: FrozenVersion, why: Unjudged) => void;
  /** Cached consumers; the least recently used one is evicted. */
  readonly most?: number;
}

interface KnownAdopter extends FirstSeen {
  readonly readAt: number;
}

const DEFAULT_MOST = 100_000;
/**
 * Other gateways flush their counts within a second. A consumer that they saw earlier is wrongly refused for
 * at most this long.
 */
const ABSENCE_TTL_MS = 5_000;
/**
 * Right after the freeze, other gateways may not have flushed their counts. Absence is then cached for a
 * shorter time.
 */
const EARLY_PERIOD_MS = 5_000;
const EARLY_ABSENCE_TTL_MS = 250;
/** Another gateway may have started to count earlier. */
const COUNTING_START_TTL_MS = 60_000;
/** Pause before the next call to an unavailable store, so that not every request waits for it. */
const RETRY_AFTER_MS = 1_000;

/**
 * Reads each first sighting once, since it never changes. Concurrent requests share one read, and a request
 * waits for at most one.
 */
export function createAdoption(
  records: AdoptionRecords,
  { now: monotonic, onUnjudged, most = DEFAULT_MOST }: AdoptionOptions,
): Adoption {
  const known = new Map<string, KnownAdopter>();
  const flights = new Map<string, Promise<KnownAdopter | undefined>>();
  let unavailableUntil = Number.NEGATIVE_INFINITY;

  const keep = (key: string, entry: KnownAdopter): KnownAdopter => {
    known.delete(key);
    const leastRecentlyUsed = known.size >= most ? known.keys().next() : undefined;
    if (leastRecentlyUsed?.done === false) known.delete(leastRecentlyUsed.value);
    known.set(key, entry);
    return entry;
  };

  const readFirstSeen = async (key: string, adopter: VersionConsumer): Promise<KnownAdopter | undefined> => {
    try {
      const readAt = monotonic();
      return keep(key, { ...(await records.firstSeen(adopter)), readAt });
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      unavailableUntil = monotonic() + RETRY_AFTER_MS;
      return undefined;
    } finally {
      flights.delete(key);
    }
  };

  /** Undefined while the store is unavailable. */
  const find = (
    adopter: VersionConsumer,
    freeze: EpochMs,
    now: EpochMs,
  ): MaybePromise<KnownAdopter | undefined> => {
    const key = keyOf(adopter);
    const entry = known.get(key);
    if (entry !== undefined && monotonic() < entry.readAt + cacheTtlMs(entry, freeze, now))
      return keep(key, entry);
    const inFlight = flights.get(key);
    if (inFlight !== undefined) return inFlight;
    if (monotonic() < unavailableUntil) return undefined;
    const flight = readFirstSeen(key, adopter);
    flights.set(key, flight);
    return flight;
  };

  const judge = (entry: KnownAdopter | undefined, adopter: VersionConsumer, freeze: EpochMs): boolean => {
    if (entry !== undefined && isBefore(entry.at, freeze)) return false;
    if (entry !== undefined && isBefore(entry.countedSince, freeze)) return true;
    onUnjudged(adopter, entry === undefined ? 'store_away' : 'counted_since');
    return false;
  };

  return {
    saw: (adopter, at) => {
      const key = keyOf(adopter);
      const entry = known.get(key);
      if (entry?.at === undefined || at < entry.at)
        keep(key, { at, countedSince: entry?.countedSince, readAt: monotonic() });
    },
    isLate: (adopter, freeze, now) => {
      const found = find(adopter, freeze, now);
      return found instanceof Promise
        ? found.then((entry) => judge(entry, adopter, freeze))
        : judge(found, adopter, freeze);
    },
  };
}

function keyOf({ api, version, consumer }: VersionConsumer): string {
  return JSON.stringify([api, version, consumer]);
}

/** Milliseconds for which a first sighting, or its absence, may be cached. */
function cacheTtlMs({ at, countedSince }: FirstSeen, freeze: EpochMs, now: EpochMs): number {
  if (isBefore(at, freeze)) return Number.POSITIVE_INFINITY;
  if (!isBefore(countedSince, freeze)) return COUNTING_START_TTL_MS;
  if (at !== undefined) return Number.POSITIVE_INFINITY;
  return now - freeze < EARLY_PERIOD_MS ? EARLY_ABSENCE_TTL_MS : ABSENCE_TTL_MS;
}

function isBefore(at: EpochMs | undefined, freeze: EpochMs): boolean {
  return at !== undefined && at < freeze;
}
