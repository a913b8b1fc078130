// What the pipeline asks for limits: picks the store and settles its failures by the rule of the version (RL-13).
// Stands between exchange and the stores; gateway.ts puts it together.

import { StoreUnavailable } from '../policy/contract.ts';
import type {
  Limit,
  LimitRules,
  Quota,
  RateLimiter,
  RateLimitStore,
  Take,
} from '../policy/rate-limit/limit.ts';

/**
 * `shared` may answer from leases, `exact` asks the store each time, `local` holds this process's part of a limit
 * (limit ÷ `replicas`, at least 1) while the store is away. Errors other than `StoreUnavailable` are faults and pass
 * through. Whether the store is up is for its connection to say, which knows better than a single take.
 */
export function createRateLimiter(options: {
  readonly shared: RateLimitStore;
  readonly exact: RateLimitStore;
  readonly local: RateLimitStore;
  readonly replicas: number;
}): RateLimiter {
  const { local, replicas } = options;
  const parts = new WeakMap<Limit, Limit>();

  const ownPart = (limit: Limit): Limit => {
    const part = parts.get(limit) ?? partOf(limit, replicas);
    parts.set(limit, part);
    return part;
  };

  const withoutStore = async (take: Take, rule: LimitRules['onStoreFailure']): Promise<Quota> => {
    const { limit } = take;
    switch (rule) {
      case 'allow':
        return { kind: 'degraded', limit, allowed: true, retryAfterMs: 0 };
      case 'refuse':
        return { kind: 'unavailable' };
      case 'local': {
        const { allowed, retryAfterMs } = await local.take({ ...take, limit: ownPart(limit) });
        return { kind: 'degraded', limit, allowed, retryAfterMs };
      }
      default:
        return rule satisfies never;
    }
  };

  return {
    take: (take, rules) => {
      const answer = (rules.exact ? options.exact : options.shared).take(take);
      if (!(answer instanceof Promise)) return { kind: 'counted', limit: take.limit, ...answer };
      return answer.then(
        (taken): Quota => ({ kind: 'counted', limit: take.limit, ...taken }),
        (error: unknown) => {
          if (!(error instanceof StoreUnavailable)) throw error;
          return withoutStore(take, rules.onStoreFailure);
        },
      );
    },
  };
}

/** What one of `replicas` admits while none knows what the others do: an equal part, at least 1. */
export function partOf(limit: Limit, replicas: number): Limit {
  return { ...limit, units: share(limit.units, replicas), burst: share(limit.burst, replicas) };
}

const share = (units: number, replicas: number): number => Math.max(1, Math.floor(units / replicas));
