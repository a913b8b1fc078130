// What the idempotency policy speaks: its rules, what is kept of an answer, the store port, and its refusals.
// The port is owned here, by who needs it; stores/ implements it.
import type { EpochMs } from '../contract.ts';

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
  | {
      readonly reason: 'idempotency_unavailable';
      readonly retryAfterSeconds: number;
      readonly restoredAt: EpochMs;
    };
