// An API key as it is kept, the port behind which it is, and whether it opens the door now.
// The secret itself is nowhere: its digest is compared in constant time (AUTH-3).
import { timingSafeEqual } from 'node:crypto';
import type { EpochMs, MaybePromise } from '../contract.ts';
import type { Consumer, KeyFlaw } from './access.ts';

export interface KeyRecord {
  /** The public part of the key. */
  readonly id: string;
  /** The consumer that holds it. */
  readonly consumer: string;
  readonly scopes: readonly string[];
  /** Whom to write to about it. */
  readonly contact: string | undefined;
  readonly created: EpochMs;
  readonly expires: EpochMs | undefined;
  /** When it last got a new secret. */
  readonly rotated: EpochMs | undefined;
  readonly revoked: EpochMs | undefined;
  /** The newest first; those before it open until their end, the overlap of a rotation. */
  readonly secrets: readonly KeySecret[];
}

export interface KeySecret {
  /** SHA-256, hex. */
  readonly digest: string;
  /** Undefined: no end of its own. */
  readonly until: EpochMs | undefined;
}

/** `away`: the store does not answer, and this process does not know the key. */
export type FoundKey =
  | { readonly kind: 'found'; readonly record: KeyRecord }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'away' };

/** The keys that a request can be judged by; what is known answers at once. */
export interface KnownKeys {
  readonly find: (id: string) => MaybePromise<FoundKey>;
}

/** The same, for those who manage them. Everything but `find` rejects with `StoreUnavailable` while the store is away. */
export interface KeyStore extends KnownKeys {
  /** As the store has it now; `unreadable`: what stands there is no record that this edition knows, and opens nothing here. */
  readonly read: (id: string) => Promise<KeyRecord | 'unreadable' | undefined>;
  /** Ends one that cannot be read, and returns what stands there then; undefined, and nothing done, where none does. */
  readonly endUnreadable: (id: string, at: EpochMs) => Promise<KeyRecord | undefined>;
  readonly list: () => Promise<readonly KeyRecord[]>;
  /** False, and nothing done, unless `current` stands there. */
  readonly replace: (current: KeyRecord | undefined, next: KeyRecord) => Promise<boolean>;
}

/** What is wrong with a key whose secret has this digest; undefined: nothing. Wrong secrets are told apart from nothing. */
export function flawOfKey(record: KeyRecord, digest: string, now: EpochMs): KeyFlaw | undefined {
  const secret = secretWith(record, digest);
  if (secret === undefined) return 'unknown';
  if (record.revoked !== undefined) return 'revoked';
  const ends = endOf(record, secret);
  return ends !== undefined && ends <= now ? 'expired' : undefined;
}

/** The consumer that holds a key in order; `digest` is that of one of its secrets. */
export function consumerOfKey(record: KeyRecord, digest: string): Consumer {
  const secret = secretWith(record, digest);
  return {
    id: record.consumer,
    named: true,
    via: 'key',
    scopes: new Set(record.scopes),
    claims: {},
    ends: secret && endOf(record, secret),
  };
}

function endOf({ expires }: KeyRecord, { until }: KeySecret): EpochMs | undefined {
  return expires === undefined || until === undefined ? (expires ?? until) : Math.min(expires, until);
}

/** Every secret is compared, whichever fits: there are never more than a few. */
function secretWith({ secrets }: KeyRecord, digest: string): KeySecret | undefined {
  const given = Buffer.from(digest, 'hex');
  let found: KeySecret | undefined;
  for (const secret of secrets) {
    const kept = Buffer.from(secret.digest, 'hex');
    if (kept.length === given.length && timingSafeEqual(kept, given)) found = secret;
  }
  return found;
}
