// An API key, `sdl_<id>_<secret><checksum>`: its text, its record, the port that keeps it, and whether it opens the door now.
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';
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

/** By the prefix, scanners of source code find keys that were committed. */
const PREFIX = 'sdl_';
/** Crockford's, lower case: nothing in it is taken for something else when it is read aloud. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const ID_CHARACTERS = 12;
/** 160 bits: against guessing, one round of SHA-256 is then as good as any number of them. */
const SECRET_CHARACTERS = 32;
/** 32 bits. */
const CHECK_CHARACTERS = 7;

const FORM = new RegExp(
  `^${PREFIX}([${ALPHABET}]{${ID_CHARACTERS}})_([${ALPHABET}]{${SECRET_CHARACTERS}})([${ALPHABET}]{${CHECK_CHARACTERS}})$`,
);
const ID = new RegExp(`^[${ALPHABET}]{${ID_CHARACTERS}}$`);

export interface KeyParts {
  /** Public: what a record is found by, and what operators call the key. */
  readonly id: string;
  /** Hex. */
  readonly digest: string;
}

/** Undefined for what is no key, or is mistyped. */
export function readKey(text: string): KeyParts | undefined {
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

/** A new secret for the record `id`: the key as its holder gets it, and the digest that is kept. */
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

/** Five bits of each byte: every character is as likely as any other. */
function randomText(characters: number): string {
  return [...randomBytes(characters)].map((byte) => ALPHABET.charAt(byte % 32)).join('');
}
