// Takes the limits of a request from the right store, and handles failures of the store (RL-13).
import { type MaybePromise, StoreUnavailable } from '../policy/contract.ts';
import { emissionInterval } from '../policy/rate-limit/gcra.ts';
import type {
  Limit,
  LimitPart,
  Quota,
  RateLimiter,
  RateLimitStore,
  Take,
  Taken,
} from '../policy/rate-limit/limit.ts';
import type { EmbeddedRateLimitStore } from './embedded/rate-limit.ts';

export interface RateLimiterOptions {
  readonly shared: RateLimitStore;
  readonly exact: RateLimitStore;
  /** Holds this process's share of a limit (`limitShare`) while the store is unavailable. */
  readonly local: RateLimitStore;
  readonly replicas: number;
  /** Milliseconds for all limits of a request (RL-13); default: unlimited. */
  readonly budgetMs?: number;
}

/**
 * Errors other than `StoreUnavailable` are faults and pass through. If one limit of a request is exact, one
 * store call takes from all of them: the request waits for the store anyway, and a refusal then takes from
 * none. Shadow limits are taken from after the others have admitted the request, each by itself, in the
 * remaining time.
 */
export function createRateLimiter(options: RateLimiterOptions): RateLimiter {
  const { local, replicas, budgetMs = Number.POSITIVE_INFINITY } = options;
  const ownShare = (part: Take): Take => ({ ...part, limit: limitShare(part, replicas) });

  const takeWithoutStore = async (parts: readonly LimitPart[]): Promise<readonly Quota[]> => {
    const counted = parts.filter(({ rule }) => rule.onStoreFailure === 'local');
    const refuses = parts.some(({ rule }) => rule.onStoreFailure === 'refuse');
    // Nothing is taken for a request that will be refused.
    const taken = refuses || counted.length === 0 ? [] : await local.takeAll(counted.map(ownShare));
    return parts.flatMap((part): readonly Quota[] => {
      const { limit, rule } = part;
      switch (rule.onStoreFailure) {
        case 'allow':
          return [{ kind: 'degraded', limit, rule, allowed: true, retryAfterMs: 0 }];
        case 'refuse':
          return [{ kind: 'unavailable', limit, rule }];
        case 'local': {
          const own = taken[counted.indexOf(part)];
          if (own === undefined) return [];
          return [{ kind: 'degraded', limit, rule, allowed: own.allowed, retryAfterMs: own.retryAfterMs }];
        }
        default:
          return rule.onStoreFailure satisfies never;
      }
    });
  };

  const orWithoutStore = <Answer>(
    pending: MaybePromise<Answer>,
    parts: readonly LimitPart[],
    read: (answer: Answer) => readonly Quota[],
  ): MaybePromise<readonly Quota[]> => {
    if (!(pending instanceof Promise)) return read(pending);
    return pending.then(read, (error: unknown) => {
      if (!(error instanceof StoreUnavailable)) throw error;
      return takeWithoutStore(parts);
    });
  };

  const takeOne = (part: LimitPart): MaybePromise<readonly Quota[]> => {
    const pending = (part.rule.exact ? options.exact : options.shared).take(part);
    if (!(pending instanceof Promise)) return [counted(part, pending)];
    return orWithoutStore(pending, [part], (taken) => [counted(part, taken)]);
  };

  const takeEnforced = (parts: readonly LimitPart[]): MaybePromise<readonly Quota[]> => {
    const [only, second] = parts;
    if (only === undefined) return [];
    if (second === undefined) return takeOne(only);
    const store = parts.some(({ rule }) => rule.exact) ? options.exact : options.shared;
    return orWithoutStore(store.takeAll(parts), parts, (taken) =>
      parts.flatMap((part, index) => {
        const answer = taken[index];
        return answer === undefined ? [] : [counted(part, answer)];
      }),
    );
  };

  const takeShadows = (
    parts: readonly LimitPart[],
    enforced: readonly Quota[],
    leftMs = budgetMs,
  ): MaybePromise<readonly Quota[]> => {
    if (!enforced.every(isAdmitted)) return enforced;
    const pending = parts.map((part) => {
      const taking = takeOne(part);
      return taking instanceof Promise ? withTimeout(leftMs, taking, () => takeWithoutStore([part])) : taking;
    });
    if (pending.some((each) => each instanceof Promise))
      return Promise.all(pending).then((quotas) => [...enforced, ...quotas.flat()]);
    return [...enforced, ...pending.flatMap((each) => (each instanceof Promise ? [] : each))];
  };

  return {
    take: (parts) => {
      const [only] = parts;
      if (only !== undefined && parts.length === 1) return takeOne(only);
      const shadows = parts.filter(({ rule }) => rule.shadow);
      const taking = takeEnforced(shadows.length === 0 ? parts : parts.filter(({ rule }) => !rule.shadow));
      if (shadows.length === 0) return taking;
      if (!(taking instanceof Promise)) return takeShadows(shadows, taking);
      const begun = performance.now();
      const leftMs = (): number => Math.max(0, budgetMs - (performance.now() - begun));
      return taking.then((enforced) => takeShadows(shadows, enforced, leftMs()));
    },
  };
}

function counted({ limit, rule }: LimitPart, taken: Taken): Quota {
  return { kind: 'counted', limit, rule, ...taken };
}

/** Resolves with `fallback` after `limitMs`. The late answer may still count. */
function withTimeout<Answer>(
  limitMs: number,
  pending: Promise<Answer>,
  fallback: () => Promise<Answer>,
): Promise<Answer> {
  if (limitMs === Number.POSITIVE_INFINITY) return pending;
  const late = Promise.withResolvers<Answer>();
  // An answer that arrived while this process was busy is read first.
  const timer = setTimeout(() => setImmediate(() => late.resolve(fallback())), limitMs);
  return Promise.race([pending, late.promise]).finally(() => clearTimeout(timer));
}

function isAdmitted(quota: Quota): boolean {
  return quota.kind !== 'unavailable' && quota.allowed;
}

/**
 * The share of one of `replicas` while the store is unavailable: an equal part, at least 1, with a burst of
 * at least one cost. Otherwise an operation whose cost exceeds the share would be refused until the store is
 * back. The rate stays the same: in any period each gateway admits at most max(burst ÷ replicas, cost) +
 * elapsed/T of its share. A sliding log has no burst: in any window it admits max(burst ÷ replicas, cost).
 */
export function limitShare({ limit, cost }: Pick<Take, 'limit' | 'cost'>, replicas: number): Limit {
  const units = share(limit.units, replicas);
  const burst = Math.max(share(limit.burst, replicas), cost);
  return limit.algorithm === 'sliding-log' ? { ...limit, units: burst, burst } : { ...limit, units, burst };
}

const share = (units: number, replicas: number): number => Math.max(1, Math.floor(units / replicas));

/**
 * `store`, with each answer mirrored in `local`. A fallback that starts with full buckets would grant a new
 * share of the limit at each outage. Sliding logs are not mirrored, since an answer does not say when its
 * units were taken.
 */
export function mirroredIn(
  local: Pick<EmbeddedRateLimitStore, 'raiseDebt'>,
  store: RateLimitStore,
): RateLimitStore {
  const mirror = (take: Take, taken: Taken | undefined): void => {
    if (taken === undefined || take.limit.algorithm === 'sliding-log') return;
    local.raiseDebt(take, untilFullMs(take, taken));
  };
  return {
    ...store,
    take: async (take) => {
      const taken = await store.take(take);
      mirror(take, taken);
      return taken;
    },
    takeAll: async (takes) => {
      const answers = await store.takeAll(takes);
      for (const [index, take] of takes.entries()) mirror(take, answers[index]);
      return answers;
    },
  };
}

/**
 * A share of a limit refills in the same time as the whole: it has fewer units, and they come more slowly.
 */
function untilFullMs({ limit }: Take, { remaining, resetMs }: Taken): number {
  const afterNext = ((limit.burst - 1) * emissionInterval(limit)) / 1000;
  return remaining === 0 ? afterNext + resetMs : resetMs;
}
