// When consumers were first seen on a frozen version, as this process knows it: a warm path waits for nothing.
// Stands behind the Adoption port, in front of the ledger of either store or of the primary.
import { type EpochMs, type MaybePromise, StoreUnavailable } from '../policy/contract.ts';
import type { Adopter, Adoption } from '../policy/usage/adoption.ts';

/** The part of the ledger that is asked; every answer rejects with `StoreUnavailable` only. */
export interface AdoptionRecords {
  /** Undefined: never. */
  readonly firstSeen: (adopter: Adopter) => MaybePromise<EpochMs | undefined>;
  /** Since when calls of that version are counted; undefined: not yet. */
  readonly beganAt: (version: FrozenVersion) => Promise<EpochMs | undefined>;
}

/** Where no ledger is kept: nobody was counted, so that nobody can be told to be late. */
export const NOBODY_COUNTED: AdoptionRecords = { firstSeen: () => undefined, beganAt: async () => undefined };

export type FrozenVersion = Pick<Adopter, 'api' | 'version'>;

/** Why nobody can be told to be late: no answer, or calls of the version are counted only since the freeze or later. */
export type Unjudged = 'store_away' | 'counted_since';

export interface AdoptionOptions {
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** Told of each request that is let in because nobody can know. */
  readonly onUnjudged: (version: FrozenVersion, why: Unjudged) => void;
  /** Consumers on versions; the longest unasked goes first. */
  readonly most?: number;
}

interface Known {
  /** Undefined: not yet, as far as the ledger knew when it was asked. */
  readonly at: EpochMs | undefined;
  readonly askedAt: number;
}

const DEFAULT_MOST = 100_000;
/** Others flush what they have counted within a second; somebody they saw before the day is wrongly refused no longer. */
const ABSENCE_MS = 5_000;
/** Another gateway may have counted sooner. */
const BEGINNING_MS = 60_000;
/** Until a store that was away is asked again, so that not every request waits for it. */
const AWAY_MS = 1_000;

/** That somebody was seen, and when, never changes: it is asked once. Requests for the same wait for one answer. */
export function createAdoption(
  records: AdoptionRecords,
  { now, onUnjudged, most = DEFAULT_MOST }: AdoptionOptions,
): Adoption {
  const known = new Map<string, Known>();
  const flights = new Map<string, Promise<Known | undefined>>();
  /** By version, when its calls were first counted. */
  const beginnings = new Map<string, Known>();
  let awayUntil = Number.NEGATIVE_INFINITY;

  const keep = (key: string, entry: Known): Known => {
    known.delete(key);
    const longestUnasked = known.size >= most ? known.keys().next() : undefined;
    if (longestUnasked?.done === false) known.delete(longestUnasked.value);
    known.set(key, entry);
    return entry;
  };

  const isAway = (error: unknown): undefined => {
    if (!(error instanceof StoreUnavailable)) throw error;
    awayUntil = now() + AWAY_MS;
  };

  const ask = async (key: string, adopter: Adopter): Promise<Known | undefined> => {
    try {
      const askedAt = now();
      return keep(key, { at: await records.firstSeen(adopter), askedAt });
    } catch (error) {
      return isAway(error);
    } finally {
      flights.delete(key);
    }
  };

  /** Undefined while the store is away. */
  const find = (key: string, adopter: Adopter): MaybePromise<Known | undefined> => {
    const entry = known.get(key);
    if (entry !== undefined && (entry.at !== undefined || now() < entry.askedAt + ABSENCE_MS))
      return keep(key, entry);
    const flying = flights.get(key);
    if (flying !== undefined) return flying;
    if (now() < awayUntil) return undefined;
    const flight = ask(key, adopter);
    flights.set(key, flight);
    return flight;
  };

  /** Whether calls were counted before that day, so that who was not seen was not there. Undefined: the store is away. */
  const countedBefore = async ({ api, version }: Adopter, freeze: EpochMs): Promise<boolean | undefined> => {
    const key = JSON.stringify([api, version]);
    const entry = beginnings.get(key);
    if (entry !== undefined && (isBefore(entry, freeze) || now() < entry.askedAt + BEGINNING_MS))
      return isBefore(entry, freeze);
    if (now() < awayUntil) return undefined;
    try {
      const fresh = { askedAt: now(), at: await records.beganAt({ api, version }) };
      beginnings.set(key, fresh);
      return isBefore(fresh, freeze);
    } catch (error) {
      return isAway(error);
    }
  };

  const unjudged = (adopter: Adopter, why: Unjudged): false => {
    onUnjudged(adopter, why);
    return false;
  };

  const judge = async (found: MaybePromise<Known | undefined>, adopter: Adopter, freeze: EpochMs) => {
    const entry = await found;
    if (entry === undefined) return unjudged(adopter, 'store_away');
    if (isBefore(entry, freeze)) return false;
    const counted = await countedBefore(adopter, freeze);
    if (counted === true) return true;
    return unjudged(adopter, counted === undefined ? 'store_away' : 'counted_since');
  };

  return {
    isLate: (adopter, freeze) => {
      const { api, version, consumer } = adopter;
      const found = find(JSON.stringify([api, version, consumer]), adopter);
      if (!(found instanceof Promise) && found !== undefined && isBefore(found, freeze)) return false;
      return judge(found, adopter, freeze);
    },
  };
}

function isBefore({ at }: Known, freeze: EpochMs): boolean {
  return at !== undefined && at < freeze;
}
