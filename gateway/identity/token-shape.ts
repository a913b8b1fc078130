// The look at a token before any cryptography: is it one compact JWS, and what does its header ask for?
// First step of verification; stricter than jose, which decodes base64 leniently and keeps the last of repeated names.
import { LONGEST_TOKEN } from '../policy/authentication/token-authenticator.ts';
import { createRecentMap } from '../policy/recent-map.ts';

/** `kid` is the sender's word: a map key and nothing else, of bounded length (JWT-3). */
const MAX_KID = 256;

const COMPACT = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/;

export interface TokenHeader {
  readonly alg: string;
  readonly kid: string | undefined;
  readonly typ: string | undefined;
}

/**
 * The header of a compact JWS, or undefined when the token is anything else (JWT-1): another number of parts,
 * characters outside base64url or a part not in canonical form, repeated header names, an extension to understand
 * (`crit`, RFC 7515 §4.1.11) or an unencoded payload (`b64`, RFC 7797 §7).
 */
export function readTokenHeader(token: string): TokenHeader | undefined {
  if (token.length > LONGEST_TOKEN || !COMPACT.test(token)) return undefined;
  const parts = token.split('.');
  if (!parts.every(isCanonical)) return undefined;
  const header = readUniqueMembers(parts[0] ?? '');
  if (header === undefined || 'crit' in header || 'b64' in header) return undefined;
  const { alg, kid, typ } = header;
  if (typeof alg !== 'string') return undefined;
  if (kid !== undefined && (typeof kid !== 'string' || kid.length > MAX_KID)) return undefined;
  if (typ !== undefined && typeof typ !== 'string') return undefined;
  return { alg, kid, typ };
}

/** Whether a claim is written twice (RFC 7519 §4): the gateway and an upstream might then read different ones. */
export function hasRepeatedClaims(token: string): boolean {
  return readUniqueMembers(token.split('.')[1] ?? '') === undefined;
}

/** Who the token says has issued it, unproven; undefined for what is no JWT. */
export function issuerOf(token: string): unknown {
  return readUniqueMembers(token.split('.')[1] ?? '')?.iss;
}

/** Spare bits set in the last character make a second spelling of the same bytes. */
function isCanonical(part: string): boolean {
  return Buffer.from(part, 'base64url').toString('base64url') === part;
}

/** A byte order mark is kept, for JSON to stumble over (RFC 8259 §8.1): not every reader passes over it. */
const STRICT = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function readUniqueMembers(part: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const text = STRICT.decode(Buffer.from(part, 'base64url'));
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    if (Object.keys(value).length !== countMembers(text)) return undefined;
    return { ...value };
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return undefined;
    throw error;
  }
}

/** Members of the outermost object of `json`, which is known to be valid: each has one colon at depth 1. */
function countMembers(json: string): number {
  let members = 0;
  let depth = 0;
  let quoted = false;
  for (let at = 0; at < json.length; at += 1) {
    const char = json[at];
    if (quoted) {
      if (char === '\\') at += 1;
      else if (char === '"') quoted = false;
    } else if (char === '"') quoted = true;
    else if (char === '{' || char === '[') depth += 1;
    else if (char === '}' || char === ']') depth -= 1;
    else if (char === ':' && depth === 1) members += 1;
  }
  return members;
}

const MOST = 10_000;
const MOST_CHARACTERS = 4_000_000;

/** Who a token says has issued it, unproven; undefined for what is no JWT. */
export type IssuerOf = (token: string) => unknown;

/** Remembers the issuer, so that a token seen before is not taken apart again to pick who judges it. */
export function createKnownIssuers(): IssuerOf {
  const known = createRecentMap<{ readonly issuer: unknown }>(MOST, MOST_CHARACTERS);
  return (token) => {
    const entry = known.get(token);
    if (entry !== undefined) return entry.issuer;
    const issuer = issuerOf(token);
    known.set(token, { issuer });
    return issuer;
  };
}
