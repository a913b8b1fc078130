// How an API key is made, gets another secret, and ends. Pure: records in, records out.
// Asked by the admin API, which stores what comes of it and shows the key once.
import type { EpochMs } from '../contract.ts';
import type { KeyRecord } from './key-record.ts';

/** Of secrets that may go on beside the newest, however often a key is rotated. */
const MOST_BEFORE = 3;

export type NewKey = Pick<KeyRecord, 'id' | 'consumer' | 'scopes' | 'contact' | 'expires'>;

export function makeKey(asked: NewKey, digest: string, now: EpochMs): KeyRecord {
  return {
    ...asked,
    created: now,
    rotated: undefined,
    revoked: undefined,
    secrets: [{ digest, until: undefined }],
  };
}

/** The secrets before go on for `overlapMs`, none of them longer than it would have. */
export function rotateKey(
  record: KeyRecord,
  digest: string,
  { now, overlapMs }: { readonly now: EpochMs; readonly overlapMs: number },
): KeyRecord {
  const before = record.secrets
    .map(({ digest: old, until }) => ({ digest: old, until: Math.min(until ?? Infinity, now + overlapMs) }))
    .filter(({ until }) => until > now)
    .slice(0, MOST_BEFORE);
  return { ...record, rotated: now, secrets: [{ digest, until: undefined }, ...before] };
}

/** For good. The record stays, so that a log tells the key of a former holder from one that was made up. */
export function revokeKey(record: KeyRecord, now: EpochMs): KeyRecord {
  return { ...record, revoked: now };
}

/** How it stands, for people. */
export function stateOfKey({ revoked, expires }: KeyRecord, now: EpochMs): 'active' | 'expired' | 'revoked' {
  if (revoked !== undefined) return 'revoked';
  return expires !== undefined && expires <= now ? 'expired' : 'active';
}
