// What the pipeline asks for limits: picks the store and settles its failures by the rule of the version (RL-13).
// Stands between exchange and the stores; gateway.ts puts it together.
import type {
  Limit,
  LimitRules,
  Quota,
  RateLimiter,
  RateLimitStore,
  Take,
} from '../policy/rate-limit/limit.ts';
import { StoreUnavailable } from '../policy/rate-limit/limit.ts';

/**
 * `shared` may answer from leases, `exact` asks the store each time, `local` holds this process's part of a limit
 * (limit ÷ `replicas`, at least 1) while the store is away. `onState` is called once per change, with false at the
 * first failure. Errors other than `StoreUnavailable` are faults and pass through.
 */
export function createRateLimiter(options: {
  readonly shared: RateLimitStore;
  readonly exact: RateLimitStore;
  readonly local: RateLimitStore;
  readonly replicas: number;
  readonly onState: (up: boolean) => void;
}): RateLimiter {
  const { local, replicas } = options;
  const parts = new WeakMap<Limit, Limit>();
  let up = true;

  const report = (now: boolean): void => {
    if (up === now) return;
    up = now;
    options.onState(now);
  };

  const partOf = (limit: Limit): Limit => {
    const known = parts.get(limit);
    if (known !== undefined) return known;
    const part = { ...limit, units: share(limit.units, replicas), burst: share(limit.burst, replicas) };
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
        const { allowed, retryAfterMs } = await local.take({ ...take, limit: partOf(limit) });
        return { kind: 'degraded', limit, allowed, retryAfterMs };
      }
      default:
        return rule satisfies never;
    }
  };

  return {
    take: (take, rules) => {
      const answer = (rules.exact ? options.exact : options.shared).take(take);
      // An answer at once came from memory: it says nothing of the store, so it reports no change.
      if (!(answer instanceof Promise)) return { kind: 'counted', limit: take.limit, ...answer };
      return answer.then(
        (taken): Quota => {
          report(true);
          return { kind: 'counted', limit: take.limit, ...taken };
        },
        (error: unknown) => {
          if (!(error instanceof StoreUnavailable)) throw error;
          report(false);
          return withoutStore(take, rules.onStoreFailure);
        },
      );
    },
  };
}

const share = (units: number, replicas: number): number => Math.max(1, Math.floor(units / replicas));
