// Opens the store that the settings name and puts the limiter over it together: leases, exact takes, local fallback.
// Called once by gateway.ts; a Redis that is away at start is no reason not to start.
import type { Limit, RateLimiter, Taken } from '../policy/rate-limit/limit.ts';
import { openDataFolder } from './embedded/data-folder.ts';
import { createEmbeddedRateLimitStore } from './embedded/rate-limit.ts';
import { createLeasingStore } from './leases.ts';
import { createRateLimiter } from './rate-limiter.ts';
import { connectRedis } from './redis/connect.ts';
import { createRedisRateLimitStore } from './redis/rate-limit.ts';

export interface RateLimitOptions {
  readonly store:
    | { readonly kind: 'embedded'; readonly folder: string }
    | { readonly kind: 'redis'; readonly url: string };
  readonly replicas: number;
  /** Monotonic milliseconds. */
  readonly monotonic: () => number;
  /** Called once per change; an embedded store is always up. */
  readonly onState: (up: boolean) => void;
}

export interface RateLimits {
  readonly limiter: RateLimiter;
  /** In-process buckets per client address. */
  readonly guard: (clientAddress: string, limit: Limit) => Taken;
  readonly close: () => void;
}

/** @throws DataFolderError when the folder of an embedded store is held by another process or cannot be used */
export async function openRateLimits(options: RateLimitOptions): Promise<RateLimits> {
  const { store, replicas, monotonic: now } = options;
  const guardStore = createEmbeddedRateLimitStore({ now });
  const guard: RateLimits['guard'] = (key, limit) => guardStore.take({ key, limit, cost: 1 });
  const local = createEmbeddedRateLimitStore({ now });
  switch (store.kind) {
    case 'embedded': {
      const folder = openDataFolder(store.folder);
      options.onState(true);
      const stores = { shared: local, exact: local, local };
      return {
        limiter: createRateLimiter({ ...stores, replicas: 1 }),
        guard,
        close: folder.close,
      };
    }
    case 'redis': {
      const connection = await connectRedis(store.url, { onState: options.onState });
      if (!connection.ready) options.onState(false);
      const exact = createRedisRateLimitStore(connection);
      const shared = createLeasingStore(exact, { now });
      return {
        limiter: createRateLimiter({ shared, exact, local, replicas }),
        guard,
        close: connection.close,
      };
    }
    default: {
      const never: never = store;
      throw new Error(`unhandled store ${JSON.stringify(never)}`);
    }
  }
}
