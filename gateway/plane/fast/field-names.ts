// Field names as the fast plane reads them: octets to the lower-case name, and to what is to be known of it.

/** What a reader of heads has to do about a field. */
export const FIELD_RULE = {
  /** Repeated ones are joined by a comma. */
  list: 0,
  /** A second one is for Node's parser, which refuses or drops it. */
  once: 1,
  host: 2,
  length: 3,
  coding: 4,
  connection: 5,
  expect: 6,
  /** For Node's parser alone. */
  never: 7,
} as const;
export type FieldRule = (typeof FIELD_RULE)[keyof typeof FIELD_RULE];

export interface FieldName {
  readonly name: string;
  readonly rule: FieldRule;
  readonly hasUnderscore: boolean;
  /** Of `name`: strings have many hidden classes, for which V8 looks their methods up for each character. */
  readonly octets: Uint8Array;
  readonly next: FieldName | undefined;
}

/** The lower-case octet of a token character; 0 for what is none. */
export const TOKEN = new Uint8Array(256);
for (const character of "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz")
  TOKEN[character.charCodeAt(0)] = character.charCodeAt(0);
for (let octet = 0x41; octet <= 0x5a; octet += 1) TOKEN[octet] = octet + 0x20;

const SLOTS = 1_024;
const MOST_REMEMBERED = 1_024;
/** Names in one slot: colliding names evict each other, so that an attacker cannot build a long list. */
const MOST_IN_SLOT = 4;
const LONGEST_REMEMBERED = 64;

const { list, once, host, length, coding, connection, expect, never } = FIELD_RULE;

const RULES: readonly (readonly [rule: FieldRule, names: string])[] = [
  [host, 'host'],
  [length, 'content-length'],
  [coding, 'transfer-encoding'],
  [connection, 'connection'],
  [expect, 'expect'],
  // The second is no field of requests; Node gives it as a list.
  [never, 'upgrade set-cookie'],
  // Node joins repeated ones in a way of its own.
  [once, 'cookie'],
  // SMG-17, and what Node keeps the first of.
  [once, 'authorization content-type if-modified-since if-unmodified-since if-range range origin referer'],
  [once, 'user-agent from max-forwards proxy-authorization idempotency-key'],
  [once, 'age etag expires last-modified location retry-after server'],
  [list, 'accept accept-encoding accept-language cache-control forwarded via x-request-id x-forwarded-for'],
  [
    list,
    'x-forwarded-proto x-forwarded-host traceparent tracestate if-match if-none-match pragma te trailer',
  ],
  [list, 'sec-fetch-site sec-fetch-mode sec-fetch-dest dnt priority x-real-ip keep-alive'],
];

const table: (FieldName | undefined)[] = new Array(SLOTS).fill(undefined);
let remembered = 0;
for (const [rule, names] of RULES) for (const name of names.split(' ')) remember(name, rule);

/** One step of the hash that `fieldName` looks up by; `octet` is that of TOKEN. */
export function hashed(hash: number, octet: number): number {
  return (Math.imul(hash, 31) + octet) | 0;
}

function hashOf(name: string): number {
  let hash = 0;
  for (let at = 0; at < name.length; at += 1) hash = hashed(hash, name.charCodeAt(at));
  return hash;
}

function remember(name: string, rule: FieldRule): FieldName {
  const slot = hashOf(name) & (SLOTS - 1);
  const next = table[slot];
  const octets = Uint8Array.from(name, (character) => character.charCodeAt(0));
  const made = { name, rule, hasUnderscore: name.includes('_'), octets, next };
  let inSlot = 0;
  for (let each = next; each !== undefined; each = each.next) inSlot += 1;
  if (remembered < MOST_REMEMBERED && inSlot < MOST_IN_SLOT && name.length <= LONGEST_REMEMBERED) {
    remembered += 1;
    table[slot] = made;
  }
  return made;
}

/** Of the token in bytes[from, to), whose octets have this hash. */
export function fieldName(bytes: Buffer, from: number, to: number, hash: number): FieldName {
  for (let each = table[hash & (SLOTS - 1)]; each !== undefined; each = each.next)
    if (isNamed(each.octets, bytes, from, to)) return each;
  return remember(bytes.toString('latin1', from, to).toLowerCase(), list);
}

function isNamed(octets: Uint8Array, bytes: Buffer, from: number, to: number): boolean {
  const { length } = octets;
  if (length !== to - from) return false;
  for (let at = 0; at < length; at += 1) if (TOKEN[bytes[from + at] ?? 0] !== octets[at]) return false;
  return true;
}
