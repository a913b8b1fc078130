// API keys of the form `sdl_<id>_<secret><checksum>`: text, record, store port, rotation and validity.
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { EpochMs, MaybePromise } from '../contract.ts';
import type { Consumer, KeyFlaw } from './access.ts';

export interface KeyRecord {
  readonly id: string;
  readonly consumer: string;
  readonly scopes: readonly string[];
  readonly contact: string | undefined;
  readonly created: EpochMs;
  readonly expires: EpochMs | undefined;
  readonly rotated: EpochMs | undefined;
  readonly revoked: EpochMs | undefined;
  /** Newest first. Older secrets stay valid until their own end: the overlap of a rotation. */
  readonly secrets: readonly KeySecret[];
}

export interface KeySecret {
  /** SHA-256, hex. */
  readonly digest: string;
  /** When the secret expires. Undefined: with the key. */
  readonly until: EpochMs | undefined;
}

/** `away`: the store does not answer, and this process has not cached the key. */
export type FoundKey =
  | { readonly kind: 'found'; readonly record: KeyRecord }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'away' };

export interface KeyLookup {
  readonly find: (id: string) => MaybePromise<FoundKey>;
}

/** The port for key management. Every call except `find` rejects with `StoreUnavailable` while the store is away. */
export interface KeyStore extends KeyLookup {
  /** Reads from the store, not from a cache. `unreadable`: this version cannot parse the record, so the key is refused. */
  readonly read: (id: string) => Promise<KeyRecord | 'unreadable' | undefined>;
  /**
   * Revokes a record that this version cannot read, and returns the record that the store then holds. Undefined, without a
   * change, if there is no record.
   */
  readonly endUnreadable: (id: string, at: EpochMs) => Promise<KeyRecord | undefined>;
  readonly list: () => Promise<readonly KeyRecord[]>;
  /** Compare and set: returns false, without a change, unless the store holds `current`. */
  readonly replace: (current: KeyRecord | undefined, next: KeyRecord) => Promise<boolean>;
}

/** Undefined if the key is valid. A wrong secret gives `unknown`, as if the key did not exist. */
export function flawOfKey(record: KeyRecord, digest: string, now: EpochMs): KeyFlaw | undefined {
  const secret = secretMatching(record, digest);
  if (secret === undefined) return 'unknown';
  if (record.revoked !== undefined) return 'revoked';
  const ends = endOf(record, secret);
  return ends !== undefined && ends <= now ? 'expired' : undefined;
}

export function consumerOfKey(record: KeyRecord, digest: string): Consumer {
  const secret = secretMatching(record, digest);
  return {
    id: record.consumer,
    mayLabelMetrics: true,
    via: 'key',
    scopes: new Set(record.scopes),
    claims: {},
    ends: secret && endOf(record, secret),
  };
}

function endOf({ expires }: KeyRecord, { until }: KeySecret): EpochMs | undefined {
  return expires === undefined || until === undefined ? (expires ?? until) : Math.min(expires, until);
}

/** The loop compares every secret, so that the time does not show which one matched. */
function secretMatching({ secrets }: KeyRecord, digest: string): KeySecret | undefined {
  const given = Buffer.from(digest, 'hex');
  let found: KeySecret | undefined;
  for (const secret of secrets) {
    const kept = Buffer.from(secret.digest, 'hex');
    if (kept.length === given.length && timingSafeEqual(kept, given)) found = secret;
  }
  return found;
}

const MAX_OLD_SECRETS = 3;

export type NewKey = Pick<KeyRecord, 'id' | 'consumer' | 'scopes' | 'contact' | 'expires'>;

export function makeKey(wanted: NewKey, digest: string, now: EpochMs): KeyRecord {
  return {
    ...wanted,
    created: now,
    rotated: undefined,
    revoked: undefined,
    secrets: [{ digest, until: undefined }],
  };
}

/** Older secrets stay valid for `overlapMs`, but not beyond their former end. */
export function rotateKey(
  record: KeyRecord,
  digest: string,
  { now, overlapMs }: { readonly now: EpochMs; readonly overlapMs: number },
): KeyRecord {
  const before = record.secrets
    .map(({ digest: old, until }) => ({ digest: old, until: Math.min(until ?? Infinity, now + overlapMs) }))
    .filter(({ until }) => until > now)
    .slice(0, MAX_OLD_SECRETS);
  return { ...record, rotated: now, secrets: [{ digest, until: undefined }, ...before] };
}

/** Permanent. The record stays, so that logs can tell a revoked key from an invented one. */
export function revokeKey(record: KeyRecord, now: EpochMs): KeyRecord {
  return { ...record, revoked: now };
}

export function stateOfKey({ revoked, expires }: KeyRecord, now: EpochMs): 'active' | 'expired' | 'revoked' {
  if (revoked !== undefined) return 'revoked';
  return expires !== undefined && expires <= now ? 'expired' : 'active';
}

/** Secret scanners find committed keys by this prefix. */
const PREFIX = 'sdl_';
/** Crockford's base 32, lower case: it avoids letters that people confuse. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const ID_CHARACTERS = 12;
/** 160 bits of entropy: guessing is infeasible, so one round of SHA-256 is enough. */
const SECRET_CHARACTERS = 32;
const CHECK_CHARACTERS = 7;

const FORM = new RegExp(
  `^${PREFIX}([${ALPHABET}]{${ID_CHARACTERS}})_([${ALPHABET}]{${SECRET_CHARACTERS}})([${ALPHABET}]{${CHECK_CHARACTERS}})$`,
);
const ID = new RegExp(`^[${ALPHABET}]{${ID_CHARACTERS}}$`);

export interface KeyParts {
  /** Public: the lookup key of the record and the name that operators see. */
  readonly id: string;
  /** SHA-256 of the secret, hex. */
  readonly digest: string;
}

export function parseApiKey(text: string): KeyParts | undefined {
  const [, id, secret, check] = FORM.exec(text) ?? [];
  if (id === undefined || secret === undefined || check !== checksum(id, secret)) return undefined;
  return { id, digest: hash('sha256', secret) };
}

export function isKeyId(text: string): boolean {
  return ID.test(text);
}

export function newKeyId(): string {
  return randomText(ID_CHARACTERS);
}

export function newSecret(id: string): { readonly key: string; readonly digest: string } {
  const secret = randomText(SECRET_CHARACTERS);
  return { key: `${PREFIX}${id}_${secret}${checksum(id, secret)}`, digest: hash('sha256', secret) };
}

function checksum(id: string, secret: string): string {
  let rest = crc32(`${id}_${secret}`);
  let text = '';
  for (let index = 0; index < CHECK_CHARACTERS; index += 1) {
    text = ALPHABET.charAt(rest % 32) + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}

/** 256 is a multiple of 32, so all characters are equally likely. */
function randomText(characters: number): string {
  return [...randomBytes(characters)].map((byte) => ALPHABET.charAt(byte % 32)).join('');
}
