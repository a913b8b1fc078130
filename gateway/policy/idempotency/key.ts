// The key a client chose, out of its header line, and the two digests that are made with it.
import { createHash } from 'node:crypto';
import type { Fields } from '../contract.ts';

/** RFC 8941 §3.3.3, with room for parameters, which mean nothing here. */
const TEXT = String.raw`"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"`;
const PARAMETER = String.raw`; *[a-z*][a-z0-9_.*-]*(?:=(?:${TEXT}|[^\s;"]+))?`;
const QUOTED = new RegExp(`^${TEXT}(?:${PARAMETER})*$`);
const BARE = /^[A-Za-z0-9._~:-]{1,255}$/;
const LONGEST = 255;

export type ReadKey =
  | { readonly kind: 'none' }
  | { readonly kind: 'malformed' }
  | { readonly kind: 'key'; readonly key: string };

/**
 * IDM-1: a String in quotes, or the same characters without them. Two lines, which arrive as one with a comma, are none
 * of both.
 */
export function readKey(headers: Fields): ReadKey {
  const field = headers.get('idempotency-key');
  if (field === undefined) return { kind: 'none' };
  if (BARE.test(field)) return { kind: 'key', key: field };
  const key = QUOTED.exec(field)?.[1]?.replace(/\\(["\\])/g, '$1');
  return key === undefined || key === '' || key.length > LONGEST
    ? { kind: 'malformed' }
    : { kind: 'key', key };
}

/** Whose key it is and what it was sent for. */
export interface KeyScope {
  readonly api: string;
  readonly version: string;
  readonly method: string;
  /** Below the base of the API, normalised, with its query less the version. */
  readonly target: string;
  /** Undefined where nobody is known; then the address stands for who calls. */
  readonly consumer: { readonly id: string; readonly claims: Readonly<Record<string, unknown>> } | undefined;
  readonly clientAddress: string;
  readonly key: string;
}

/**
 * IDM-4: what a store keeps it under. Two users of one application are two principals, else the key of one would be
 * answered with what the other was told.
 */
export function storageKey(scope: KeyScope): string {
  const { api, version, method, target, consumer, clientAddress, key } = scope;
  const who =
    consumer === undefined
      ? ['address', clientAddress]
      : ['consumer', consumer.id, wordOf(consumer.claims.iss), ...userIn(consumer.claims)];
  return digest(JSON.stringify([api, version, method, target, who, key]));
}

/** IDM-4: of the bytes as they came: the same JSON with other blanks is another payload. */
export function fingerprintOf(contentType: string, body: Uint8Array): string {
  return createHash('sha256').update(`${contentType}\n`).update(body).digest('base64url');
}

/** RFC 7662 §2.2: who is asked about a token may leave out its `sub`, and some write numbers there. */
function userIn({ sub, username }: Readonly<Record<string, unknown>>): readonly string[] {
  return sub === undefined && username !== undefined ? ['', wordOf(username)] : [wordOf(sub)];
}

function wordOf(claim: unknown): string {
  return typeof claim === 'string' ? claim : (JSON.stringify(claim) ?? '');
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
