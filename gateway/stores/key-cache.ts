// The cache of API keys, and the stored form of a key. The store has only digests of the secrets.
import type { FoundKey, KeyRecord, KeySecret, KeyStore } from '../policy/authentication/key-record.ts';
import { type EpochMs, StoreUnavailable } from '../policy/contract.ts';
import { faultOnce, isInstant, isStoredObject, type StoredObject, storedValue } from './stored-json.ts';

/** Stored texts by the public part of a key. All calls reject only with `StoreUnavailable`. */
export interface KeyTexts {
  readonly find: (id: string) => Promise<string | undefined>;
  readonly list: () => Promise<readonly string[]>;
  /**
   * Replaces `current`. False, with nothing changed, unless `current` is stored. Undefined means no record.
   */
  readonly replace: (id: string, current: string | undefined, next: string) => Promise<boolean>;
}

export interface CachedKeys extends KeyStore {
  readonly forget: (id: string) => void;
  readonly forgetAll: () => void;
}

interface KeyCacheBounds {
  readonly mostKeys?: number;
  /** Counted apart from the known keys, so that invented keys cannot evict real ones. */
  readonly mostUnknown?: number;
}

const DEFAULT_MOST_KEYS = 100_000;
const DEFAULT_MOST_UNKNOWN = 10_000;

const AWAY: FoundKey = { kind: 'away' };
const UNKNOWN: FoundKey = { kind: 'unknown' };

/** The least recently used entry is evicted. Concurrent requests for one unknown key share one call. */
export function createKeyCache(
  texts: KeyTexts,
  onFault: (error: unknown) => void,
  { mostKeys = DEFAULT_MOST_KEYS, mostUnknown = DEFAULT_MOST_UNKNOWN }: KeyCacheBounds = {},
): CachedKeys {
  const known = new Map<string, FoundKey>();
  const unknown = new Set<string>();
  const flights = new Map<string, Promise<FoundKey>>();
  /** Counts calls of `forget`. An answer to a call sent before the last of them may be stale. */
  let forgotten = 0;
  /**
   * The stored text of each record. The store compares it to detect changes, and another release may have
   * added fields.
   */
  const storedTexts = new WeakMap<KeyRecord, string>();
  const reportOnce = faultOnce(onFault, 'a stored API key is unreadable; it authenticates no caller');

  const recordIn = (text: string): KeyRecord | undefined => {
    const record = readKeyRecord(text);
    if (record === undefined) reportOnce();
    else storedTexts.set(record, text);
    return record;
  };
  const keep = (id: string, found: FoundKey): void => {
    if (found.kind === 'found') {
      evictIfFull(known, mostKeys);
      known.set(id, found);
    } else {
      evictIfFull(unknown, mostUnknown);
      unknown.add(id);
    }
  };
  const fetchKey = async (id: string): Promise<FoundKey> => {
    const before = forgotten;
    try {
      const text = await texts.find(id);
      const record = text === undefined ? undefined : recordIn(text);
      const found: FoundKey = record === undefined ? UNKNOWN : { kind: 'found', record };
      if (forgotten === before) keep(id, found);
      return found;
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      return AWAY;
    }
  };
  const find = (id: string): FoundKey | Promise<FoundKey> => {
    const found = known.get(id);
    if (found !== undefined) {
      // Map order is the order of use.
      known.delete(id);
      known.set(id, found);
      return found;
    }
    if (unknown.has(id)) return UNKNOWN;
    const running = flights.get(id);
    if (running !== undefined) return running;
    const flight = fetchKey(id).finally(() => {
      if (flights.get(id) === flight) flights.delete(id);
    });
    flights.set(id, flight);
    return flight;
  };
  const forget = (id: string): void => {
    forgotten += 1;
    known.delete(id);
    unknown.delete(id);
    flights.delete(id);
  };

  return {
    find,
    forget,
    forgetAll: () => {
      forgotten += 1;
      known.clear();
      unknown.clear();
      flights.clear();
    },
    read: async (id) => {
      const text = await texts.find(id);
      return text === undefined ? undefined : (recordIn(text) ?? 'unreadable');
    },
    endUnreadable: async (id, at) => {
      const text = await texts.find(id);
      if (text === undefined || readKeyRecord(text) !== undefined) return undefined;
      const record = revokedRecord(id, text, at);
      try {
        return (await texts.replace(id, text, writeKeyRecord(record, text))) ? record : undefined;
      } finally {
        forget(id);
      }
    },
    list: async () => {
      const records = (await texts.list()).map(recordIn).filter((record) => record !== undefined);
      return records.toSorted((a, b) => a.created - b.created || (a.id < b.id ? -1 : 1));
    },
    replace: async (current, next) => {
      const before = current && (storedTexts.get(current) ?? writeKeyRecord(current));
      try {
        return await texts.replace(next.id, before, writeKeyRecord(next, before));
      } finally {
        // Also after a failure: the store may have written the record.
        forget(next.id);
      }
    },
  };
}

function evictIfFull(kept: Map<string, unknown> | Set<string>, most: number): void {
  const leastRecentlyUsed = kept.size >= most ? kept.keys().next() : undefined;
  if (leastRecentlyUsed?.done === false) kept.delete(leastRecentlyUsed.value);
}

/** `before`: the text to replace. Its fields that this release does not know are kept. */
export function writeKeyRecord(record: KeyRecord, before = '{}'): string {
  const { id, consumer, scopes, contact, created, expires, rotated, revoked, secrets } = record;
  const stored = storedValue(before);
  const storedFields: StoredObject = isStoredObject(stored) ? stored : {};
  const formerSecrets = Array.isArray(storedFields.secrets) ? storedFields.secrets.filter(isSecret) : [];
  const kept = secrets.map(({ digest, until }) =>
    mergeStored({ digest, until }, formerSecrets.find((each) => each.digest === digest) ?? {}),
  );
  const known = { id, consumer, scopes, contact, created, expires, rotated, revoked, secrets: kept };
  return JSON.stringify(mergeStored(known, storedFields));
}

/** A fixed order of fields, so that one record has one text. */
function mergeStored(known: StoredObject, storedFields: object): StoredObject {
  return { ...known, ...storedFields, ...known };
}

/** Undefined for an unreadable record: such a key authenticates no caller. */
function readKeyRecord(text: string): KeyRecord | undefined {
  const stored = storedValue(text);
  if (!isStoredObject(stored)) return undefined;
  const { id, consumer, scopes, contact, created, expires, rotated, revoked, secrets } = stored;
  if (typeof id !== 'string' || typeof consumer !== 'string' || !isInstant(created)) return undefined;
  if (contact !== undefined && typeof contact !== 'string') return undefined;
  if (!isMoment(expires) || !isMoment(rotated) || !isMoment(revoked)) return undefined;
  if (!Array.isArray(scopes) || !scopes.every((scope) => typeof scope === 'string')) return undefined;
  if (!Array.isArray(secrets) || !secrets.every(isSecret)) return undefined;
  return {
    id,
    consumer,
    scopes,
    contact,
    created,
    expires,
    rotated,
    revoked,
    secrets: secrets.map(withoutUnknownFields),
  };
}

/**
 * A revoked record to replace an unreadable one, which another release may accept as a key. Only the consumer
 * is read from `text`.
 */
function revokedRecord(id: string, text: string, at: EpochMs): KeyRecord {
  const stored = storedValue(text);
  const { consumer }: StoredObject = isStoredObject(stored) ? stored : {};
  const ended = { contact: undefined, expires: undefined, rotated: undefined, revoked: at, secrets: [] };
  return {
    id,
    consumer: typeof consumer === 'string' ? consumer : 'unknown',
    scopes: [],
    created: at,
    ...ended,
  };
}

function isMoment(value: unknown): value is number | undefined {
  return value === undefined || isInstant(value);
}

function isSecret(value: unknown): value is KeySecret {
  return isStoredObject(value) && typeof value.digest === 'string' && isMoment(value.until);
}

function withoutUnknownFields({ digest, until }: KeySecret): KeySecret {
  return { digest, until };
}
