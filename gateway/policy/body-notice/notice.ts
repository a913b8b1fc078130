// The notice: what a deprecated version says of itself inside the JSON objects it answers with, and how it gets in there.
// Made for each request, since it names the same resource in the successor; the same facts make the same bytes.
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

export interface Notice {
  /** Name and value as JSON text, without a comma. */
  readonly member: string;
  /** What entity tags of edited answers end with inside their quotes: another notice, another tag (BODY-5). */
  readonly suffix: string;
}

/** The member of the specification, in its order; what is not known is left out and never null. */
export function createNotice({ sunset, replacement, guide, reason }: NoticeFacts): Notice {
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
export function splice(body: Buffer, { member }: Notice): Spliced {
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
