// Builds the `_deprecation` member, inserts it into JSON objects and renews their digests.
import { hash } from 'node:crypto';
import type { EpochMs } from '../contract.ts';
import { dayOf } from '../notation.ts';

export const MEMBER_NAME = '_deprecation';

export interface NoticeFacts {
  /** As in this caller's Sunset header. */
  readonly sunset: EpochMs | undefined;
  /** Absolute URL of the same resource in the successor. */
  readonly replacement: string | undefined;
  readonly guide: string | undefined;
  readonly reason: string | undefined;
}

export interface BodyNotice {
  /** Name and value as JSON text, without a comma. */
  readonly member: string;
  /** Appended to entity tags inside the quotes, so that another notice gives another tag (BODY-5). */
  readonly suffix: string;
}

/** The member as the specification defines it, in its order. Unknown values are omitted, never null. */
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
  /** `own_member`: the upstream already sends `_deprecation`. */
  | { readonly kind: 'left'; readonly why: 'not_object' | 'malformed' | 'own_member' };

const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf] as const;
const BLANKS: ReadonlySet<number | undefined> = new Set([0x20, 0x09, 0x0a, 0x0d]);
const BRACE = 0x7b;
const COMMA = ',';

// Fatal: with invalid UTF-8 it is uncertain what a client would read. The decoder drops one byte order mark.
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** `body` is the whole content in identity coding. The body stays unchanged in every doubtful case. */
export function splice(body: Buffer, { member }: BodyNotice): Spliced {
  const brace = firstByte(body);
  if (body[brace] !== BRACE) return { kind: 'left', why: 'not_object' };
  const members = parseMembers(body);
  if (members === undefined) return { kind: 'left', why: 'malformed' };
  // The parser has decoded escapes in names. Only the outermost object counts.
  if (Object.hasOwn(members, MEMBER_NAME)) return { kind: 'left', why: 'own_member' };
  const after = Object.keys(members).length === 0 ? '' : COMMA;
  const inserted = Buffer.from(member + after);
  return {
    kind: 'added',
    body: Buffer.concat([body.subarray(0, brace + 1), inserted, body.subarray(brace + 1)]),
  };
}

function firstByte(body: Buffer): number {
  let at = BYTE_ORDER_MARK.every((byte, index) => body[index] === byte) ? BYTE_ORDER_MARK.length : 0;
  while (BLANKS.has(body[at])) at += 1;
  return at;
}

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
 * Renews a Content-Digest or Repr-Digest field for a new body. Drops unknown algorithms. Undefined if none is left.
 * `mismatch` if a digest does not match `before`.
 */
export function renewDigest(field: string, before: Buffer, after: Buffer): string | undefined | 'mismatch' {
  // RFC 9651 §3.2: the last member of a name counts. Each algorithm hashes the body once.
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
