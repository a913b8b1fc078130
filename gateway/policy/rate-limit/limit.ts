// What the rate-limit policy speaks: limits, subjects, the store port, and its refusals.
// The port is owned here, by who needs it; stores/ implements it.
import type { EpochMs, MaybePromise } from '../contract.ts';

/** `units` per `windowMs`, with room for `burst` at once; GCRA admits at most burst + elapsed/T in any stretch (RL-9). */
export interface Limit {
  /** Shown in RateLimit-Policy; a token such as `default` or `deprecated`. */
  readonly name: string;
  readonly units: number;
  readonly windowMs: number;
  readonly burst: number;
}

/** What to do with a request when no store answers (RL-13). */
export type OnStoreFailure = 'local' | 'allow' | 'refuse';

/** The limits of one version, lowered ones already computed; each stage has its own bucket. */
export interface LimitRules {
  readonly active: Limit;
  readonly deprecated: Limit;
  /** Where the lowered limit goes on falling: from `from` on one step a day, the last one staying. */
  readonly curve: { readonly from: EpochMs; readonly steps: readonly Limit[] } | undefined;
  /** What is counted together, by stage: `v1`, or `v1 GET /search` for an operation counted apart. */
  readonly scopes: { readonly active: string; readonly deprecated: string };
  readonly by: 'consumer' | 'address';
  readonly onStoreFailure: OnStoreFailure;
  /** One store call per request instead of a lease. */
  readonly exact: boolean;
}

export interface Take {
  /** Names the bucket: policy, version and subject; never holds a raw token (RL-12). */
  readonly key: string;
  readonly limit: Limit;
  /** Units to take, a positive integer; all or nothing. */
  readonly cost: number;
}

/** What a bucket answered. Durations in milliseconds. */
export interface Taken {
  readonly allowed: boolean;
  /** Whole units left, never more than the truth, never negative. */
  readonly remaining: number;
  /** When refused: how long until `cost` units are there. 0 when allowed. */
  readonly retryAfterMs: number;
  /** Until one more unit when none is left, else until the bucket is full (RL-9). */
  readonly resetMs: number;
}

/**
 * Buckets, shared or in process. `take` is atomic and rejects with `StoreUnavailable` when the store does not
 * answer in time; it never waits longer than 50 ms (RL-13).
 */
export interface RateLimitStore {
  readonly take: (take: Take) => MaybePromise<Taken>;
}

/** What the pipeline asks of limits: a take whose store failure has been settled by the rule. */
export interface RateLimiter {
  readonly take: (take: Take, rules: Pick<LimitRules, 'onStoreFailure' | 'exact'>) => MaybePromise<Quota>;
}

/** A settled take. `degraded`: the store is away, so no numbers are shown (RL-13). */
export type Quota =
  | ({ readonly kind: 'counted'; readonly limit: Limit } & Taken)
  | {
      readonly kind: 'degraded';
      readonly limit: Limit;
      readonly allowed: boolean;
      readonly retryAfterMs: number;
    }
  | { readonly kind: 'unavailable' };

export type RateLimitRefusal =
  | { readonly reason: 'rate_limited'; readonly retryAfterSeconds: number; readonly limit: Limit }
  | { readonly reason: 'guard_limited'; readonly retryAfterSeconds: number }
  /** `on_store_failure: refuse` and the store is away: 503. */
  | {
      readonly reason: 'limits_unavailable';
      readonly retryAfterSeconds: number;
      readonly restoredAt: EpochMs;
    };
