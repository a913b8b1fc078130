// Reads the Idempotency-Key of a request and computes its store key and the body fingerprint.
import { createHash } from 'node:crypto';
import type { Fields } from '../contract.ts';

/** A String of RFC 8941 §3.3.3 with optional parameters, which are ignored. */
const TEXT = String.raw`"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"`;
const PARAMETER = String.raw`; *[a-z*][a-z0-9_.*-]*(?:=(?:${TEXT}|[^\s;"]+))?`;
const QUOTED = new RegExp(`^${TEXT}(?:${PARAMETER})*$`);
const BARE = /^[A-Za-z0-9._~:-]{1,255}$/;
const LONGEST = 255;

export type IdempotencyKeyHeader =
  | { readonly kind: 'none' }
  | { readonly kind: 'malformed' }
  | { readonly kind: 'key'; readonly key: string };

/**
 * IDM-1: a String in quotes, or the same characters without quotes. Two lines arrive as one with a comma and are malformed.
 */
export function readIdempotencyKey(headers: Fields): IdempotencyKeyHeader {
  const field = headers.get('idempotency-key');
  if (field === undefined) return { kind: 'none' };
  if (BARE.test(field)) return { kind: 'key', key: field };
  const key = QUOTED.exec(field)?.[1]?.replace(/\\(["\\])/g, '$1');
  return key === undefined || key === '' || key.length > LONGEST
    ? { kind: 'malformed' }
    : { kind: 'key', key };
}

export interface KeyScope {
  readonly api: string;
  readonly version: string;
  readonly method: string;
  /** The normalised path below the base of the API, with the query but without the version. */
  readonly target: string;
  /** Undefined for an anonymous caller, who is identified by the address. */
  readonly consumer: { readonly id: string; readonly claims: Readonly<Record<string, unknown>> } | undefined;
  readonly clientAddress: string;
  readonly key: string;
}

/** IDM-4: two users of one application are two principals. Otherwise one user could replay the response of another. */
export function storageKey(scope: KeyScope): string {
  const { api, version, method, target, consumer, clientAddress, key } = scope;
  const who =
    consumer === undefined
      ? ['address', clientAddress]
      : ['consumer', consumer.id, claimText(consumer.claims.iss), ...userOf(consumer.claims)];
  return digest(JSON.stringify([api, version, method, target, who, key]));
}

/** IDM-4: of the bytes as received. The same JSON with other whitespace is another payload. */
export function fingerprintOf(contentType: string, body: Uint8Array): string {
  return createHash('sha256').update(`${contentType}\n`).update(body).digest('base64url');
}

/** RFC 7662 §2.2: an introspection response may omit `sub`, and some servers send numbers. */
function userOf({ sub, username }: Readonly<Record<string, unknown>>): readonly string[] {
  return sub === undefined && username !== undefined ? ['', claimText(username)] : [claimText(sub)];
}

function claimText(claim: unknown): string {
  return typeof claim === 'string' ? claim : (JSON.stringify(claim) ?? '');
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
