// What the idempotency policy speaks: its rules, which answers are kept and what of them, the store port, its refusals.
import type { FieldRecord, RetryLater } from '../contract.ts';

/** Methods that may have a key; the others change nothing, or the same however often they come (IDM-2). */
export const KEYED_METHODS = ['POST', 'PUT', 'PATCH'] as const;

/** The rules of one version or operation. */
export interface IdempotencyRules {
  readonly methods: ReadonlySet<string>;
  /** Whether a request of these methods without a key is refused. */
  readonly required: boolean;
  /** How long an outcome is kept, milliseconds. */
  readonly keepMs: number;
  /** What becomes of a key when nobody knows whether its request was carried out (IDM-6). */
  readonly unknown: 'hold' | 'release';
  /** Whether a 5xx of the upstream's is an outcome. */
  readonly serverErrors: 'release' | 'replay';
  /** What a key means where nobody is known by more than an address (IDM-4). */
  readonly anonymous: 'refuse' | 'address';
  /** Bytes of a body that is compared, and of one that is kept (IDM-7). */
  readonly maxBody: number;
  readonly maxAnswer: number;
}

/** What is kept of an answer: nothing of its connection, no cookie, no date. */
export interface KeptAnswer {
  /** Of the request it answers. */
  readonly fingerprint: string;
  readonly status: number;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: Uint8Array;
}

/** What stands at a key when it is asked for. */
export type Claimed =
  /** It is the asker's now. */
  | { readonly kind: 'claimed' }
  /** Another request has it and is not through. */
  | { readonly kind: 'running' }
  /** The request that had it ended without anybody knowing how. */
  | { readonly kind: 'unknown' }
  | { readonly kind: 'kept'; readonly answer: KeptAnswer };

/**
 * Keys and what came of them. Every answer rejects with `StoreUnavailable` only. What changes a key changes it for its
 * `owner` alone, and is false where that is another's by now (IDM-5).
 */
export interface IdempotencyStore {
  /**
   * Atomic: of any number that ask at once one gets it, for `lockMs`; after that without a word from its owner it is
   * free again. Who has it already gets it anew.
   */
  readonly claim: (key: string, owner: string, lockMs: number) => Promise<Claimed>;
  /** Resolves once `answer` outlives whatever happens to this process. */
  readonly finish: (key: string, owner: string, answer: KeptAnswer, keepMs: number) => Promise<boolean>;
  /** The outcome is unknown, and is not to be tried again for as long. */
  readonly hold: (key: string, owner: string, keepMs: number) => Promise<boolean>;
  readonly release: (key: string, owner: string) => Promise<boolean>;
}

/** What became of a key, for logs and metrics. */
export type IdempotencyOutcome = 'claimed' | 'replayed' | 'conflict' | 'mismatch' | 'unknown' | 'unprotected';

export type IdempotencyRefusal =
  | { readonly reason: 'idempotency_key_missing'; readonly keepMs: number }
  | { readonly reason: 'idempotency_key_malformed' }
  /** Nobody is known here, so that a key would be anybody's. */
  | { readonly reason: 'idempotency_key_anonymous' }
  | { readonly reason: 'idempotency_conflict' }
  | { readonly reason: 'idempotency_unknown' }
  | { readonly reason: 'idempotency_mismatch' }
  /** A key is required and the store that would know it is away: 503. */
  | RetryLater<'idempotency_unavailable'>;

/** They say that the request was not carried out, or may be later: with the same key it may come again (IDM-6). */
const NOT_CARRIED_OUT: ReadonlySet<number> = new Set([401, 403, 408, 409, 425, 429]);

/** Of one connection, one moment, one browser: they are not true of a replay (IDM-3, IDM-7). */
const NEVER_KEPT: ReadonlySet<string> = new Set([
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
  // As drafts of before named them.
  'ratelimit-limit',
  'ratelimit-remaining',
  'ratelimit-reset',
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
]);

/** It has no end to wait for. */
const STREAM =
  /^\s*(?:text\/event-stream|application\/(?:x-ndjson|jsonl|json-seq)|multipart\/x-mixed-replace)\b/i;

/** `release`: no outcome, the key is free. `unkept`: an outcome that is more than is kept. */
export type Keeping = 'keep' | 'release' | 'unkept';

/** `headers`: by lower-case name, hop-by-hop fields gone. */
export function keepingOf(
  { serverErrors, maxAnswer }: Pick<IdempotencyRules, 'serverErrors' | 'maxAnswer'>,
  status: number,
  headers: FieldRecord,
): Keeping {
  if (NOT_CARRIED_OUT.has(status)) return 'release';
  if (status >= 500 && serverErrors === 'release') return 'release';
  if (Number(headers['content-length'] ?? 0) > maxAnswer) return 'unkept';
  const type = headers['content-type'];
  return typeof type === 'string' && STREAM.test(type) ? 'unkept' : 'keep';
}

/** A copy: what a client gets first may be edited after this. */
export function keptHeaders(headers: FieldRecord): Readonly<Record<string, string | readonly string[]>> {
  const kept: Record<string, string | readonly string[]> = {};
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined && !NEVER_KEPT.has(name)) kept[name] = value;
  return kept;
}
