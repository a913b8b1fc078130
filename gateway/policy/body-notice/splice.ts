// Puts the notice into a body: bytes are inserted after the first brace, and not one of the others changes (BODY-2).
// Numbers, duplicates, order and blanks stay as the upstream wrote them, since nothing is written anew.
import { MEMBER_NAME, type Notice } from './notice.ts';

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
