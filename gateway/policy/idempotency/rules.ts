// Types of the idempotency policy: rules, store port and refusals. Decides which responses are stored.
import type { FieldRecord, RetryLater } from '../contract.ts';

/** Methods that may carry a key. The other methods are safe or idempotent (IDM-2). */
export const KEYED_METHODS = ['POST', 'PUT', 'PATCH'] as const;

export interface IdempotencyRules {
  readonly methods: ReadonlySet<string>;
  readonly required: boolean;
  /** How long an outcome is stored, in milliseconds. */
  readonly keepMs: number;
  /** What happens to a key if it is unknown whether its request was executed (IDM-6). */
  readonly unknown: 'hold' | 'release';
  readonly serverErrors: 'release' | 'replay';
  /** Whether an anonymous caller may use a key, identified by the address (IDM-4). */
  readonly anonymous: 'refuse' | 'address';
  /** Largest request body to compare and largest response body to store, in bytes (IDM-7). */
  readonly maxBody: number;
  readonly maxAnswer: number;
}

/** A stored response without hop-by-hop fields, cookies and dates. */
export interface StoredResponse {
  readonly fingerprint: string;
  readonly status: number;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: Uint8Array;
}

export type KeyClaim =
  | { readonly kind: 'claimed' }
  | { readonly kind: 'running' }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'kept'; readonly answer: StoredResponse };

/**
 * Keys and their outcomes. Every call rejects only with `StoreUnavailable`. Calls that change a key return false, without a
 * change, if `owner` no longer owns it (IDM-5).
 */
export interface IdempotencyStore {
  /**
   * Atomic: one of several concurrent callers gets the key, for `lockMs`. After that the key is free again. The owner may
   * claim again.
   */
  readonly claim: (key: string, owner: string, lockMs: number) => Promise<KeyClaim>;
  /** Resolves once `answer` is durable. */
  readonly finish: (key: string, owner: string, answer: StoredResponse, keepMs: number) => Promise<boolean>;
  /** Marks the outcome as unknown. The key is not executed again for `keepMs`. */
  readonly hold: (key: string, owner: string, keepMs: number) => Promise<boolean>;
  readonly release: (key: string, owner: string) => Promise<boolean>;
}

export type IdempotencyOutcome = 'claimed' | 'replayed' | 'conflict' | 'mismatch' | 'unknown' | 'unprotected';

export type IdempotencyRefusal =
  | { readonly reason: 'idempotency_key_missing'; readonly keepMs: number }
  | { readonly reason: 'idempotency_key_malformed' }
  /** An anonymous caller has no identity that separates its keys from those of others. */
  | { readonly reason: 'idempotency_key_anonymous' }
  | { readonly reason: 'idempotency_conflict' }
  | { readonly reason: 'idempotency_unknown' }
  | { readonly reason: 'idempotency_mismatch' }
  | RetryLater<'idempotency_unavailable'>;

/** The request was not executed, or the client may retry it: the same key may be sent again (IDM-6). */
const NOT_EXECUTED: ReadonlySet<number> = new Set([401, 403, 408, 409, 425, 429]);

/** Fields of one connection, one moment or one browser: wrong in a replay (IDM-3, IDM-7). */
const NEVER_STORED: ReadonlySet<string> = new Set([
  'set-cookie',
  'set-cookie2',
  'date',
  'age',
  'content-length',
  'authentication-info',
  'x-request-id',
  'idempotency-replayed',
  'ratelimit',
  'ratelimit-policy',
  'ratelimit-limit',
  'ratelimit-remaining',
  'ratelimit-reset',
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
]);

/** Streams do not end, so they cannot be stored. */
const STREAM =
  /^\s*(?:text\/event-stream|application\/(?:x-ndjson|jsonl|json-seq)|multipart\/x-mixed-replace)\b/i;

/** `release`: there is no outcome, so the key becomes free. `unstorable`: too large, or a stream. */
export type Retention = 'store' | 'release' | 'unstorable';

/** `headers`: by lower-case name, without hop-by-hop fields. */
export function retentionOf(
  { serverErrors, maxAnswer }: Pick<IdempotencyRules, 'serverErrors' | 'maxAnswer'>,
  status: number,
  headers: FieldRecord,
): Retention {
  if (NOT_EXECUTED.has(status)) return 'release';
  if (status >= 500 && serverErrors === 'release') return 'release';
  if (Number(headers['content-length'] ?? 0) > maxAnswer) return 'unstorable';
  const type = headers['content-type'];
  return typeof type === 'string' && STREAM.test(type) ? 'unstorable' : 'store';
}

/** Copies the headers, because the live response may be edited afterwards. */
export function storedHeaders(headers: FieldRecord): Readonly<Record<string, string | readonly string[]>> {
  const stored: Record<string, string | readonly string[]> = {};
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined && !NEVER_STORED.has(name)) stored[name] = value;
  return stored;
}
