// What the rate-limit policy speaks: limits, the names of their buckets, the store port, and its refusals.
import type { EpochMs, MaybePromise, RetryLater } from '../contract.ts';

/**
 * `units` per `windowMs`. GCRA, unless said otherwise, has room for `burst` at once and admits at most burst + elapsed/T
 * in any stretch (RL-9); a sliding log, whose burst is its units, at most `units` in any window (RL-8).
 */
export interface Limit {
  /** Shown in RateLimit-Policy; such as `default`, or `deprecated` where it is lowered. */
  readonly name: string;
  readonly units: number;
  readonly windowMs: number;
  readonly burst: number;
  readonly algorithm?: 'sliding-log';
}

/** What to do with a request when no store answers (RL-13). */
export type OnStoreFailure = 'local' | 'allow' | 'refuse';

/** What is counted together: the calls of a consumer, those from an address, or all. */
export type CountedBy = 'consumer' | 'address' | 'everyone';

/** One limit of one version or operation, the lowered one already computed; each stage has its own bucket (RL-11). */
export interface LimitRule {
  readonly active: Limit;
  readonly deprecated: Limit;
  /** Where the lowered limit goes on falling: from `from` on one step a day, the last one staying. */
  readonly curve: { readonly from: EpochMs; readonly steps: readonly Limit[] } | undefined;
  /** Of each subject, by stage: `orders:v1:default`, or `orders:v1 GET /search:default` for an operation counted apart. */
  readonly buckets: { readonly active: string; readonly deprecated: string };
  readonly by: CountedBy;
  readonly onStoreFailure: OnStoreFailure;
  /** The store is asked for every request instead of for leases. */
  readonly exact: boolean;
  /** Counts and tells, and refuses nothing. */
  readonly shadow: boolean;
}

/** The limits of one version or operation: a request passes when it is within each of them. */
export interface LimitRules {
  /** Those shared by everyone last: what a caller has used up itself costs nobody else. */
  readonly each: readonly LimitRule[];
  /** Units one request takes of each. */
  readonly cost: number;
}

export interface Take {
  /** Names the bucket, its subject in braces first: `{consumer:acme}:orders:v1:default`; never holds a raw token (RL-12). */
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
 * Buckets, shared or in process. Both answer within 50 ms or reject with `StoreUnavailable` (RL-13).
 */
export interface RateLimitStore {
  /** Atomic. */
  readonly take: (take: Take) => MaybePromise<Taken>;
  /**
   * From every bucket or from none: one that refuses leaves all as they were, and then each answer is that of its own
   * bucket. Undefined for a bucket that was not asked since an earlier one had refused. Keys differ.
   */
  readonly takeAll: (takes: readonly Take[]) => MaybePromise<readonly (Taken | undefined)[]>;
}

/** A take with the rule it comes from. */
export interface Part extends Take {
  readonly rule: Pick<LimitRule, 'onStoreFailure' | 'exact' | 'shadow' | 'by'>;
}

/** What the pipeline asks of limits: all parts of one request, at least one; store failures are settled by their rules. */
export interface RateLimiter {
  /** In the order of the parts, less those that nobody was asked about because another had refused. */
  readonly take: (parts: readonly Part[]) => MaybePromise<readonly Quota[]>;
}

/** A settled take. `degraded`: the store is away, so no numbers are shown (RL-13). */
export type Quota = {
  readonly limit: Limit;
  readonly rule: Part['rule'];
} & (
  | ({ readonly kind: 'counted' } & Taken)
  | { readonly kind: 'degraded'; readonly allowed: boolean; readonly retryAfterMs: number }
  | { readonly kind: 'unavailable' }
);

/** An address has shown too many opaque tokens that turned out to be none. */
export interface TokensLimited {
  readonly reason: 'tokens_limited';
  readonly retryAfterSeconds: number;
}

export type RateLimitRefusal =
  /** By these, in the order in which they stand; the delay is the longest of them. */
  | {
      readonly reason: 'rate_limited';
      readonly retryAfterSeconds: number;
      readonly violated: readonly { readonly limit: Limit; readonly by: CountedBy }[];
    }
  | { readonly reason: 'guard_limited'; readonly retryAfterSeconds: number }
  | TokensLimited
  /** `on_store_failure: refuse` and the store is away: 503. */
  | RetryLater<'limits_unavailable'>;

interface Caller {
  /** Undefined where the access is public; such requests are counted by address. */
  readonly consumer: { readonly id: string } | undefined;
  /** IPv6 already shortened to its /64. */
  readonly clientAddress: string;
}

/** Of an API, what is counted together in it, and the name of the limit: no part can pose as two. */
export function bucketName(api: string, scope: string, limit: string): string {
  return `${part(api)}:${part(scope)}:${part(limit)}`;
}

/**
 * A key no two subjects share: the name of the bucket holds no more colons than its own two, and the subject before it,
 * which a client may choose, says by its kind whether it is a consumer, an address or everyone, so that none can pose as
 * another. The braces are the hash tag of Redis Cluster: the buckets of one subject are kept on one node.
 */
export function bucketKey(bucket: string, by: CountedBy, { consumer, clientAddress }: Caller): string {
  // A node for each API and limit: what everyone shares is asked for the most.
  if (by === 'everyone') return `{everyone:${bucket}}`;
  return by === 'consumer' && consumer !== undefined
    ? `{consumer:${consumer.id}}:${bucket}`
    : `{address:${clientAddress}}:${bucket}`;
}

function part(text: string): string {
  return text.includes(':') || text.includes('%') ? encodeURIComponent(text) : text;
}
