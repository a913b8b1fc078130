// Splits a compact JWS into its parts and reads its header, before any cryptography.
import { LONGEST_TOKEN } from '../policy/authentication/token-authenticator.ts';
import { createRecentMap } from '../policy/recent-map.ts';
import { isRecord } from './issuer-request.ts';

/** JWT-3: the sender chooses `kid`, so it is only a map key of bounded length. */
const MAX_KID = 256;

const COMPACT = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/;

export interface SignedToken {
  readonly alg: string;
  readonly kid: string | undefined;
  readonly typ: string | undefined;
  /** The signed bytes: header and payload as written. */
  readonly input: Uint8Array;
  readonly payload: Buffer;
  readonly signature: Uint8Array;
}

/**
 * JWT-1: undefined for another number of parts, characters outside base64url, a part not in canonical form, repeated header
 * names, a critical extension (`crit`, RFC 7515 §4.1.11) or an unencoded payload (`b64`, RFC 7797 §7).
 */
export function readToken(token: string): SignedToken | undefined {
  if (token.length > LONGEST_TOKEN || !COMPACT.test(token)) return undefined;
  const [header, payload, signature] = token.split('.').map(decodePart);
  if (header === undefined || payload === undefined || signature === undefined) return undefined;
  const read = readMembers(header);
  if (read === undefined || read.ambiguous || 'crit' in read.members || 'b64' in read.members)
    return undefined;
  const { alg, kid, typ } = read.members;
  if (typeof alg !== 'string') return undefined;
  if (kid !== undefined && (typeof kid !== 'string' || kid.length > MAX_KID)) return undefined;
  if (typ !== undefined && typeof typ !== 'string') return undefined;
  const input = Buffer.from(token.slice(0, token.lastIndexOf('.')), 'latin1');
  return { alg, kid, typ, input, payload, signature };
}

/** The issuer in an unverified token. Undefined if the token is not a JWT. */
export function issuerOf(token: string): unknown {
  const read = readMembers(Buffer.from(token.split('.')[1] ?? '', 'base64url'));
  return read?.ambiguous ? undefined : read?.members.iss;
}

/** Undefined if spare bits in the last character are set: that would be a second spelling of the same bytes. */
function decodePart(part: string): Buffer | undefined {
  const bytes = Buffer.from(part, 'base64url');
  return bytes.toString('base64url') === part ? bytes : undefined;
}

const BYTE_ORDER_MARK = 0xef;
const UTF_8 = new TextDecoder('utf-8', { fatal: true });

export interface Members {
  readonly members: Readonly<Record<string, unknown>>;
  /**
   * Two parsers may read different members: a name occurs twice (RFC 7519 §4), or a byte order mark precedes the object
   * (RFC 8259 §8.1).
   */
  readonly ambiguous: boolean;
}

/** Undefined unless the text is a JSON object in UTF-8. */
export function readMembers(json: Buffer): Members | undefined {
  try {
    const text = UTF_8.decode(json);
    const members: unknown = JSON.parse(text);
    if (!isRecord(members)) return undefined;
    return {
      members,
      ambiguous: json[0] === BYTE_ORDER_MARK || Object.keys(members).length !== countMembers(text),
    };
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return undefined;
    throw error;
  }
}

/** Counts the members of the outermost object of valid JSON: each has one colon at depth 1. */
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

const MAX = 10_000;
const MAX_CHARACTERS = 4_000_000;

export type IssuerOf = (token: string) => unknown;

/** A cache, so that choosing the identity does not parse a known token again. */
export function createIssuerCache(): IssuerOf {
  const known = createRecentMap<{ readonly issuer: unknown }>(MAX, MAX_CHARACTERS);
  return (token) => {
    const entry = known.get(token);
    if (entry !== undefined) return entry.issuer;
    const issuer = issuerOf(token);
    known.set(token, { issuer });
    return issuer;
  };
}
