// The notice: what a deprecated version says of itself inside the JSON objects it answers with. Put in, digests made anew.
import { hash } from 'node:crypto';
import type { EpochMs } from '../contract.ts';
import { dayOf } from '../notation.ts';

export const MEMBER_NAME = '_deprecation';

export interface NoticeFacts {
  /** The sunset this caller is told in its headers. */
  readonly sunset: EpochMs | undefined;
  /** Absolute URL of the same resource in the successor. */
  readonly replacement: string | undefined;
  /** Absolute URL. */
  readonly guide: string | undefined;
  readonly reason: string | undefined;
}

export interface BodyNotice {
  /** Name and value as JSON text, without a comma. */
  readonly member: string;
  /** What entity tags of edited answers end with inside their quotes: another notice, another tag (BODY-5). */
  readonly suffix: string;
}

/** The member of the specification, in its order; what is not known is left out and never null. */
export function createNotice({ sunset, replacement, guide, reason }: NoticeFacts): BodyNotice {
  const value = {
    deprecated: true,
    sunset_date: sunset === undefined ? undefined : dayOf(sunset),
    replacement,
    migration_guide: guide,
    reason,
  };
  const member = `"${MEMBER_NAME}":${JSON.stringify(value)}`;
  return { member, suffix: `~d${hash('sha256', member).slice(0, 8)}` };
}

export type Spliced =
  | { readonly kind: 'added'; readonly body: Buffer }
  /** `own_member`: the upstream speaks for itself. */
  | { readonly kind: 'left'; readonly why: 'not_object' | 'malformed' | 'own_member' };

const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf] as const;
const BLANKS: ReadonlySet<number | undefined> = new Set([0x20, 0x09, 0x0a, 0x0d]);
const BRACE = 0x7b;
const COMMA = ',';

// Fatal: where bytes are no UTF-8 it is not certain what a client would read. One byte order mark is left out.
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** `body` is the whole content in identity coding. Whatever is not certain leaves it as it is. */
export function splice(body: Buffer, { member }: BodyNotice): Spliced {
  const brace = firstByte(body);
  if (body[brace] !== BRACE) return { kind: 'left', why: 'not_object' };
  const members = parseMembers(body);
  if (members === undefined) return { kind: 'left', why: 'malformed' };
  // However it is spelled: the parser has undone escapes, and only the outermost object is asked.
  if (Object.hasOwn(members, MEMBER_NAME)) return { kind: 'left', why: 'own_member' };
  const after = Object.keys(members).length === 0 ? '' : COMMA;
  const inserted = Buffer.from(member + after);
  return {
    kind: 'added',
    body: Buffer.concat([body.subarray(0, brace + 1), inserted, body.subarray(brace + 1)]),
  };
}

/** Where the JSON text begins. */
function firstByte(body: Buffer): number {
  let at = BYTE_ORDER_MARK.every((byte, index) => body[index] === byte) ? BYTE_ORDER_MARK.length : 0;
  while (BLANKS.has(body[at])) at += 1;
  return at;
}

/** The object that `body` holds; undefined when it holds none. */
function parseMembers(body: Buffer): object | undefined {
  try {
    const value: unknown = JSON.parse(utf8.decode(body));
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

const ALGORITHMS: Readonly<Record<string, string>> = { 'sha-256': 'sha256', 'sha-512': 'sha512' };
const MEMBER = /^(sha-256|sha-512)=:([A-Za-z0-9+/]*={0,2}):(?:;.*)?$/;

/**
 * A Content-Digest or Repr-Digest of `before` as one of `after`. Algorithms not known here are left out; undefined where
 * none is known, `mismatch` where a digest is not that of `before`.
 */
export function renewDigest(field: string, before: Buffer, after: Buffer): string | undefined | 'mismatch' {
  // Of members with one name the last counts (RFC 9651 §3.2), so that bytes are hashed once for each algorithm.
  const digests = new Map<string, string | undefined>();
  for (const part of field.split(',')) {
    const [, name, digest] = MEMBER.exec(part.trim()) ?? [];
    if (name !== undefined) digests.set(name, digest);
  }
  const renewed: string[] = [];
  for (const [name, digest] of digests) {
    const algorithm = ALGORITHMS[name];
    if (algorithm === undefined) continue;
    if (hash(algorithm, before, 'base64') !== digest) return 'mismatch';
    renewed.push(`${name}=:${hash(algorithm, after, 'base64')}:`);
  }
  return renewed.length === 0 ? undefined : renewed.join(', ');
}
