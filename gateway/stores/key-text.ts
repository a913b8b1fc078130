// How the record of an API key is written in a store: one text per key, by its public part.
// Both stores keep the same; none of them ever sees a key.
import type { KeyRecord, KeySecret } from '../policy/authentication/key-record.ts';
import type { EpochMs } from '../policy/contract.ts';
import { isInstant, isStoredObject, type StoredObject, storedValue } from './stored-json.ts';

/** `before`: the text in whose place it comes. What another edition says there of the key and its secrets stays. */
export function writeKeyRecord(record: KeyRecord, before = '{}'): string {
  const { id, consumer, scopes, contact, created, expires, rotated, revoked, secrets } = record;
  const stored = storedValue(before);
  const stood: StoredObject = isStoredObject(stored) ? stored : {};
  const former = Array.isArray(stood.secrets) ? stood.secrets.filter(isSecret) : [];
  const kept = secrets.map(({ digest, until }) =>
    besides({ digest, until }, former.find((each) => each.digest === digest) ?? {}),
  );
  const known = { id, consumer, scopes, contact, created, expires, rotated, revoked, secrets: kept };
  return JSON.stringify(besides(known, stood));
}

/** In one order, so that one record has one text. */
function besides(known: StoredObject, stood: object): StoredObject {
  return { ...known, ...stood, ...known };
}

/** Undefined for what is no record: a key that cannot be understood opens nothing. */
export function readKeyRecord(text: string): KeyRecord | undefined {
  const stored = storedValue(text);
  if (!isStoredObject(stored)) return undefined;
  const { id, consumer, scopes, contact, created, expires, rotated, revoked, secrets } = stored;
  if (typeof id !== 'string' || typeof consumer !== 'string' || !isInstant(created)) return undefined;
  if (contact !== undefined && typeof contact !== 'string') return undefined;
  if (!isMoment(expires) || !isMoment(rotated) || !isMoment(revoked)) return undefined;
  if (!Array.isArray(scopes) || !scopes.every((scope) => typeof scope === 'string')) return undefined;
  if (!Array.isArray(secrets) || !secrets.every(isSecret)) return undefined;
  return { id, consumer, scopes, contact, created, expires, rotated, revoked, secrets: secrets.map(plain) };
}

/** What another edition may take for a key, made one that has ended: of what it says only the holder is looked for. */
export function endedRecord(id: string, text: string, at: EpochMs): KeyRecord {
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

function plain({ digest, until }: KeySecret): KeySecret {
  return { digest, until };
}
