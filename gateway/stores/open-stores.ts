// Opens the configured store: the limiter (leases, exact takes, local fallback) and the persistent state.
import { openEmbeddedState } from './embedded/embedded-state.ts';
import { createEmbeddedRateLimitStore } from './embedded/rate-limit.ts';
import { createLeasingStore } from './leases.ts';
import { createRateLimiter, mirroredIn } from './rate-limiter.ts';
import { connectRedis } from './redis/connect.ts';
import { openLastKnown } from './redis/last-known.ts';
import { createRedisRateLimitStore } from './redis/rate-limit.ts';
import { openSharedState } from './redis/shared-state.ts';
import { startStoreDeadline } from './store-deadline.ts';
import type { StoreOptions, Stores } from './stores.ts';
import { answerGuardOnly, answerWorkers, type NotifyWorkers } from './workers/primary-stores.ts';

/** 50 ms: the most a store may add to a request (RL-13). */
const DEFAULT_STORE_TIMEOUT_MS = 50;
/**
 * Share of the store timeout for one reply. The rest is for a busy event loop and for earlier calls of the
 * same request.
 */
const ANSWER_SHARE = 0.6;

/** A change must reach every gateway within a second, call time included. */
const REFRESH_MS = 500;

const REPORT_AGAIN_AFTER_MS = 60_000;

/**
 * @throws DataFolderError if another process has locked the data folder of an embedded store, or the folder
 * is unusable
 */
export async function openStores(options: StoreOptions): Promise<Stores> {
  const { store, dataFolder, storeTimeoutMs = DEFAULT_STORE_TIMEOUT_MS, replicas, onFault } = options;
  const { monotonic: now } = options;
  const guardStore = createEmbeddedRateLimitStore({ now });
  const guard: Stores['guard'] = (key, limit) => guardStore.take({ key, limit, cost: 1 });
  const notifyWorkers: NotifyWorkers = options.notifyWorkers ?? (async () => undefined);
  // As the fallback for Redis, its buckets are shared by limits with different bursts (see `limitShare`), so
  // it keeps debts above a limit's burst.
  const local = createEmbeddedRateLimitStore({ now, keepsDebts: store.kind !== 'embedded' });
  switch (store.kind) {
    case 'embedded': {
      const onRefused = createRefusalReport('the data folder', options);
      const state = await openEmbeddedState(store.folder, { ...options, onRefused, notifyWorkers });
      const limiter = createRateLimiter({ shared: local, exact: local, local, replicas: 1 });
      const answers = answerWorkers({ ...state, ...local }, guardStore.take, notifyWorkers);
      const start = () => ({ overrides: state.overrides.current() });
      return { ...state, limiter, guard, answers, start };
    }
    case 'redis': {
      const onRefused = createRefusalReport('Redis', options);
      const answerWithinMs = ANSWER_SHARE * storeTimeoutMs;
      const { onState } = options;
      const connection = await connectRedis(store.url, { onState, onRefused, answerWithinMs });
      if (!connection.ready) onState(false);
      const startDeadline = () => startStoreDeadline(storeTimeoutMs - answerWithinMs);
      const exact = mirroredIn(local, createRedisRateLimitStore(connection, { startDeadline }));
      const shared = createLeasingStore(exact, { now, startDeadline });
      const lastKnown = dataFolder === undefined ? undefined : openLastKnown(dataFolder, store.url, onFault);
      const { refresh, ...state } = await openSharedState(connection, { onFault, lastKnown });
      const timer = setInterval(() => void refresh(), REFRESH_MS);
      timer.unref();
      const close = (): Promise<void> => {
        clearInterval(timer);
        return state.close();
      };
      const limiter = createRateLimiter({ shared, exact, local, replicas, budgetMs: storeTimeoutMs });
      const answers = answerGuardOnly(guardStore.take);
      return { ...state, close, backup: undefined, limiter, guard, answers, start: () => undefined };
    }
    default:
      return store satisfies never;
  }
}

/** Reports each reason to `onFault` at most once a minute. A reason must not contain a secret. */
function createRefusalReport(
  store: string,
  { monotonic, onFault }: Pick<StoreOptions, 'monotonic' | 'onFault'>,
): (reason: string) => void {
  const reportedAt = new Map<string, number>();
  return (reason) => {
    const now = monotonic();
    if (now - (reportedAt.get(reason) ?? Number.NEGATIVE_INFINITY) < REPORT_AGAIN_AFTER_MS) return;
    reportedAt.set(reason, now);
    onFault(new Error(`${store} refuses an operation (${reason})`));
  };
}
