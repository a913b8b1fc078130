// Maps the octets of a field name to its lower-case name and to the rule for repeated fields.

/** How the head parser treats a field. */
export const FIELD_RULE = {
  /** Repeated fields are joined by a comma. */
  list: 0,
  /** If the field repeats, Node's parser reads the head. The repetition is then refused, dropped or joined. */
  once: 1,
  host: 2,
  length: 3,
  coding: 4,
  connection: 5,
  expect: 6,
  /** If the field is present, Node's parser reads the head. */
  never: 7,
} as const;
export type FieldRule = (typeof FIELD_RULE)[keyof typeof FIELD_RULE];

export interface FieldName {
  readonly name: string;
  readonly rule: FieldRule;
  readonly hasUnderscore: boolean;
  /** Octets of `name`. Comparing them is faster than `charCodeAt` on strings of different representations. */
  readonly octets: Uint8Array;
  readonly next: FieldName | undefined;
}

/** The lower-case octet of a token character. 0: not a token character. */
export const TOKEN = new Uint8Array(256);
for (const character of "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz")
  TOKEN[character.charCodeAt(0)] = character.charCodeAt(0);
for (let octet = 0x41; octet <= 0x5a; octet += 1) TOKEN[octet] = octet + 0x20;

const SLOTS = 1_024;
const MAX_CACHED = 1_024;
/** Names per slot. Further colliding names are not cached, so an attacker cannot build a long list. */
const MAX_IN_SLOT = 4;
/** Characters. */
const MAX_CACHED_LENGTH = 64;

const { list, once, host, length, coding, connection, expect, never } = FIELD_RULE;

const RULES: readonly (readonly [rule: FieldRule, names: string])[] = [
  [host, 'host'],
  [length, 'content-length'],
  [coding, 'transfer-encoding'],
  [connection, 'connection'],
  [expect, 'expect'],
  // Set-Cookie is not a request field. Node returns it as an array.
  [never, 'upgrade set-cookie'],
  // Node joins repeated Cookie fields by a semicolon.
  [once, 'cookie'],
  // The gateway refuses a second of these fields (SMG-17).
  [once, 'authorization content-type if-modified-since if-unmodified-since if-range range origin referer'],
  [once, 'user-agent from max-forwards proxy-authorization idempotency-key'],
  // Node keeps the first of these fields and drops later ones.
  [once, 'age etag expires last-modified location retry-after server'],
  [list, 'accept accept-encoding accept-language cache-control forwarded via x-request-id x-forwarded-for'],
  [
    list,
    'x-forwarded-proto x-forwarded-host traceparent tracestate if-match if-none-match pragma te trailer',
  ],
  [list, 'sec-fetch-site sec-fetch-mode sec-fetch-dest dnt priority x-real-ip keep-alive'],
];

const table: (FieldName | undefined)[] = new Array(SLOTS).fill(undefined);
let cached = 0;
for (const [rule, names] of RULES) for (const name of names.split(' ')) cacheName(name, rule);

/** One step of the hash for `fieldName`. `octet`: from TOKEN. */
export function hashed(hash: number, octet: number): number {
  return (Math.imul(hash, 31) + octet) | 0;
}

function hashOf(name: string): number {
  let hash = 0;
  for (let at = 0; at < name.length; at += 1) hash = hashed(hash, name.charCodeAt(at));
  return hash;
}

/** Returns the name even if the cache or its slot is full. */
function cacheName(name: string, rule: FieldRule): FieldName {
  const slot = hashOf(name) & (SLOTS - 1);
  const next = table[slot];
  const octets = Uint8Array.from(name, (character) => character.charCodeAt(0));
  const made = { name, rule, hasUnderscore: name.includes('_'), octets, next };
  let inSlot = 0;
  for (let each = next; each !== undefined; each = each.next) inSlot += 1;
  if (cached < MAX_CACHED && inSlot < MAX_IN_SLOT && name.length <= MAX_CACHED_LENGTH) {
    cached += 1;
    table[slot] = made;
  }
  return made;
}

/** The name in bytes[from, to), with `list` if it has no rule. `hash`: of that token. */
export function fieldName(bytes: Buffer, from: number, to: number, hash: number): FieldName {
  for (let each = table[hash & (SLOTS - 1)]; each !== undefined; each = each.next)
    if (isNamed(each.octets, bytes, from, to)) return each;
  return cacheName(bytes.toString('latin1', from, to).toLowerCase(), list);
}

function isNamed(octets: Uint8Array, bytes: Buffer, from: number, to: number): boolean {
  const { length } = octets;
  if (length !== to - from) return false;
  for (let at = 0; at < length; at += 1) if (TOKEN[bytes[from + at] ?? 0] !== octets[at]) return false;
  return true;
}
