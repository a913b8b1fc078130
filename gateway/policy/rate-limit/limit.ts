// Types of the rate-limit policy: limits, store port and refusals. Builds bucket names and keys.
import type { EpochMs, MaybePromise, RetryLater } from '../contract.ts';

/**
 * GCRA is the default: at most `burst` units at once and at most burst + elapsed/T in any period (RL-9). A sliding log
 * admits at most `units` in any window (RL-8). Its burst equals its units.
 */
export interface Limit {
  /** For RateLimit-Policy, such as `default`, or `deprecated` for the lowered limit. */
  readonly name: string;
  readonly units: number;
  readonly windowMs: number;
  readonly burst: number;
  readonly algorithm?: 'sliding-log';
}

/** What happens to a request while the store is unavailable (RL-13). */
export type OnStoreFailure = 'local' | 'allow' | 'refuse';

export type CountedBy = 'consumer' | 'address' | 'everyone';

/** One limit of a version or operation with its lowered form. Each stage has its own bucket (RL-11). */
export interface LimitRule {
  readonly active: Limit;
  readonly deprecated: Limit;
  /** Present if the lowered limit falls over time: one step a day from `from`. The last step stays in force. */
  readonly curve: { readonly from: EpochMs; readonly steps: readonly Limit[] } | undefined;
  /** Bucket names by stage: `orders:v1:default`, or `orders:v1 GET /search:default` for an operation with its own limit. */
  readonly buckets: { readonly active: string; readonly deprecated: string };
  readonly by: CountedBy;
  readonly onStoreFailure: OnStoreFailure;
  /** Whether every request calls the store instead of using leases. */
  readonly exact: boolean;
  /** Counts and reports, but refuses nothing. */
  readonly shadow: boolean;
}

/** The limits of one version or operation. A request must be within all of them. */
export interface LimitRules {
  /** Limits by `everyone` come last, so that a caller over its own limit takes nothing from the shared one. */
  readonly each: readonly LimitRule[];
  readonly cost: number;
}

export interface Take {
  /**
   * The bucket, with its subject first in braces: `{consumer:acme}:orders:v1:default`. It never holds a raw token (RL-12).
   */
  readonly key: string;
  readonly limit: Limit;
  /** A positive integer. All or nothing. */
  readonly cost: number;
}

export interface Taken {
  readonly allowed: boolean;
  /** Whole units left. Never negative and never too high. */
  readonly remaining: number;
  /** Time until `cost` units are available. 0 if allowed. */
  readonly retryAfterMs: number;
  /** Time until one more unit if none is left, otherwise until the bucket is full (RL-9). */
  readonly resetMs: number;
}

/** Buckets, shared or in process. Both respond within 50 ms or reject with `StoreUnavailable` (RL-13). */
export interface RateLimitStore {
  /** Atomic. */
  readonly take: (take: Take) => MaybePromise<Taken>;
  /**
   * Takes from all buckets or from none. Keys must differ. If one bucket refuses, every bucket stays unchanged. Undefined
   * for a bucket that was not checked because an earlier one refused.
   */
  readonly takeAll: (takes: readonly Take[]) => MaybePromise<readonly (Taken | undefined)[]>;
}

export interface LimitPart extends Take {
  readonly rule: Pick<LimitRule, 'onStoreFailure' | 'exact' | 'shadow' | 'by'>;
}

/** Takes all parts of one request, at least one. If the store is unavailable, `onStoreFailure` of each rule decides. */
export interface RateLimiter {
  /** In the order of the parts, without those that were not checked because an earlier one refused. */
  readonly take: (parts: readonly LimitPart[]) => MaybePromise<readonly Quota[]>;
}

/** `degraded`: the store is unavailable, so no numbers are shown (RL-13). */
export type Quota = {
  readonly limit: Limit;
  readonly rule: LimitPart['rule'];
} & (
  | ({ readonly kind: 'counted' } & Taken)
  | { readonly kind: 'degraded'; readonly allowed: boolean; readonly retryAfterMs: number }
  | { readonly kind: 'unavailable' }
);

export interface TokensLimited {
  readonly reason: 'tokens_limited';
  readonly retryAfterSeconds: number;
}

export type RateLimitRefusal =
  /** The violated limits in their order. The delay is the longest of them. */
  | {
      readonly reason: 'rate_limited';
      readonly retryAfterSeconds: number;
      readonly violated: readonly { readonly limit: Limit; readonly by: CountedBy }[];
    }
  | { readonly reason: 'guard_limited'; readonly retryAfterSeconds: number }
  | TokensLimited
  /** `on_store_failure: refuse` and the store is unavailable: 503. */
  | RetryLater<'limits_unavailable'>;

interface Caller {
  /** Undefined for public or anonymous access. Such requests are counted by address. */
  readonly consumer: { readonly id: string } | undefined;
  /** IPv6 already shortened to its /64. */
  readonly clientAddress: string;
}

/** Encodes colons in the parts, so that two different buckets never get the same name. */
export function bucketName(api: string, scope: string, limit: string): string {
  return `${part(api)}:${part(scope)}:${part(limit)}`;
}

/**
 * The subject begins with its kind, so that a consumer id can never equal an address or `everyone`. The name contains
 * exactly two colons, so the subject cannot run into it. The braces are the hash tag of Redis Cluster: all buckets of one
 * subject are on one node.
 */
export function bucketKey(bucket: string, by: CountedBy, { consumer, clientAddress }: Caller): string {
  // The whole name is the hash tag, because shared buckets get the most load and so spread over the nodes.
  if (by === 'everyone') return `{everyone:${bucket}}`;
  return by === 'consumer' && consumer !== undefined
    ? `{consumer:${consumer.id}}:${bucket}`
    : `{address:${clientAddress}}:${bucket}`;
}

function part(text: string): string {
  return text.includes(':') || text.includes('%') ? encodeURIComponent(text) : text;
}
