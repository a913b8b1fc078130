// How the record of an API key is written in a store: one text per key, by its public part.
// Both stores keep the same; none of them ever sees a key.
import type { KeyRecord, KeySecret } from '../policy/authentication/key-record.ts';
import { isInstant, isStoredObject, storedValue } from './stored-json.ts';

/** The same text for the same record, by which a store tells whether it still stands. */
export function writeKeyRecord(record: KeyRecord): string {
  const { id, consumer, scopes, contact, created, expires, rotated, revoked, secrets } = record;
  const kept = secrets.map(({ digest, until }) => ({ digest, until }));
  return JSON.stringify({ id, consumer, scopes, contact, created, expires, rotated, revoked, secrets: kept });
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

function isMoment(value: unknown): value is number | undefined {
  return value === undefined || isInstant(value);
}

function isSecret(value: unknown): value is KeySecret {
  return isStoredObject(value) && typeof value.digest === 'string' && isMoment(value.until);
}

function plain({ digest, until }: KeySecret): KeySecret {
  return { digest, until };
}
