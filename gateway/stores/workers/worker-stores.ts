// The stores of a worker: limits by leases from the primary, and caches that the primary updates.
import type { KeyLookup } from '../../policy/authentication/key-record.ts';
import { type MaybePromise, StoreUnavailable } from '../../policy/contract.ts';
import type { Override } from '../../policy/lifecycle/override.ts';
import type { Take, Taken } from '../../policy/rate-limit/limit.ts';
import type { LedgerStore } from '../../policy/usage/ledger.ts';
import { createEmbeddedRateLimitStore } from '../embedded/rate-limit.ts';
import { createIdempotencyStore, type IdempotencyTexts } from '../idempotency-records.ts';
import { type CachedKeys, createKeyCache, type KeyTexts } from '../key-cache.ts';
import { createLeasedTake, createLeasingStore } from '../leases.ts';
import { openStores } from '../open-stores.ts';
import { type CachedPins, createPinCache } from '../pin-cache.ts';
import type { PinRecords } from '../pin-records.ts';
import { createRateLimiter, limitShare, mirroredIn } from '../rate-limiter.ts';
import { startStoreDeadline } from '../store-deadline.ts';
import type { StoreOptions, Stores } from '../stores.ts';
import type { StoreAnswers, StoreReply, StoreStart, StoreUpdate } from './store-messages.ts';

/**
 * Longer than for Redis: the primary is on this machine, so a late answer means a busy processor and not an
 * outage.
 */
const ANSWER_WITHIN_MS = 1000;

export type AskPrimary = <N extends keyof StoreAnswers>(
  name: N,
  request: StoreAnswers[N] extends (request: infer A) => unknown ? A : never,
) => Promise<StoreAnswers[N] extends (request: never) => infer R ? Awaited<R> : never>;

export interface WorkerStoreOptions extends StoreOptions {
  readonly ask: AskPrimary;
  readonly start: StoreStart;
  readonly workers: number;
}

export interface WorkerStores extends Pick<Stores, 'limiter' | 'guard' | 'pins' | 'idempotency' | 'close'> {
  readonly overrides: Pick<Stores['overrides'], 'current'>;
  readonly keys: KeyLookup;
  /** Only the primary counts and erases records. */
  readonly ledger: Pick<LedgerStore, 'read' | 'add' | 'firstSeen'>;
  readonly applyUpdate: (update: StoreUpdate) => void;
}

export async function openWorkerStores(options: WorkerStoreOptions): Promise<WorkerStores> {
  const { store, workers, replicas, monotonic: now, ask } = options;
  const guard = createGuard(options);
  switch (store.kind) {
    case 'embedded': {
      const local = createEmbeddedRateLimitStore({ now, keepsDebts: true });
      const exact = mirroredIn(local, {
        take: (take) => withTimeout(ask('take', cloneableTake(take))),
        takeAll: (takes) => withTimeout(ask('takeAll', takes.map(cloneableTake))),
      });
      const shared = createLeasingStore(exact, {
        now,
        startDeadline: () => startStoreDeadline(ANSWER_WITHIN_MS),
      });
      const limiter = createRateLimiter({ shared, exact, local, replicas: workers });
      const pins = createPinCache(pinRecords(ask));
      const ledger = ledgerOf(ask);
      const keys = createKeyCache(keyTexts(ask), options.onFault);
      const idempotency = createIdempotencyStore(idempotencyTexts(ask), options.onFault);
      const known = openKnown(options.start, pins, keys);
      return { limiter, guard, pins, keys, idempotency, ledger, ...known, close: async () => undefined };
    }
    case 'redis': {
      const stores = await openStores({ ...options, replicas: replicas * workers });
      return { ...stores, guard, applyUpdate: () => undefined };
    }
    default:
      return store satisfies never;
  }
}

/**
 * All workers share one bucket per address, by leases. If the primary does not answer, each worker counts its
 * share of the limit.
 */
function createGuard({ monotonic: now, ask, workers }: WorkerStoreOptions): Stores['guard'] {
  const leased = createLeasedTake(
    { take: (take) => withTimeout(ask('guard', take)) },
    { now, startDeadline: () => startStoreDeadline(ANSWER_WITHIN_MS) },
  );
  const local = createEmbeddedRateLimitStore({ now });
  return (key, limit): MaybePromise<Taken> => {
    const take: Take = { key, limit, cost: 1 };
    const answer = leased(take);
    if (!(answer instanceof Promise)) return answer;
    return answer.catch((error: unknown) => {
      if (!(error instanceof StoreUnavailable)) throw error;
      return local.take({ ...take, limit: limitShare(take, workers) });
    });
  };
}

function openKnown(
  start: StoreStart,
  pins: CachedPins,
  keys: CachedKeys,
): Pick<WorkerStores, 'overrides' | 'applyUpdate'> {
  let overrides: readonly Override[] = start?.overrides ?? [];
  return {
    overrides: { current: () => overrides },
    applyUpdate: (update) => {
      switch (update.kind) {
        case 'overrides':
          overrides = update.overrides;
          return;
        case 'key_changed':
          keys.forget(update.id);
          return;
        case 'pin_moved':
          pins.forget(update.key);
          return;
        case 'pin_claimed':
          pins.forgetAbsence(update.key);
          return;
        default:
          update satisfies never;
      }
    },
  };
}

function replyValue<T>(answer: StoreReply<T>): T {
  if (answer.kind === 'away') throw new StoreUnavailable(answer.reason);
  return answer.value;
}

function ledgerOf(ask: AskPrimary): WorkerStores['ledger'] {
  return {
    read: async (filter, page) => replyValue(await withTimeout(ask('readUsage', { filter, page }))),
    add: async (batch) => replyValue(await withTimeout(ask('addUsage', batch))),
    firstSeen: async (subject) => replyValue(await withTimeout(ask('firstUsage', subject))),
  };
}

function idempotencyTexts(ask: AskPrimary): IdempotencyTexts {
  return {
    claim: async (key, owner, lockMs) =>
      replyValue(await withTimeout(ask('claimKey', { key, owner, lockMs }))),
    settle: async (key, owner, next) => replyValue(await withTimeout(ask('settleKey', { key, owner, next }))),
  };
}

function pinRecords(ask: AskPrimary): PinRecords {
  return {
    find: async (key) => replyValue(await toUnavailable(ask('findPin', key))),
    claim: async (key, pin) => replyValue(await toUnavailable(ask('claimPin', { key, pin }))),
    replace: () => Promise.reject(new Error('pins are moved by the primary')),
  };
}

function keyTexts(ask: AskPrimary): KeyTexts {
  const unsupported = () => Promise.reject(new Error('API keys are managed by the primary'));
  return {
    find: async (id) => replyValue(await withTimeout(ask('findKey', id))),
    list: unsupported,
    replace: unsupported,
  };
}

/** Any failure of the primary counts as an unavailable store. */
async function toUnavailable<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    throw new StoreUnavailable(error instanceof Error ? error.message : String(error));
  }
}

/** Only the fields that the store needs; a `Part` also holds fields that cannot be cloned. */
function cloneableTake({ key, limit, cost }: Take): Take {
  return { key, limit, cost };
}

function withTimeout<T>(answer: Promise<T>): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const giveUp = (): void => reject(new StoreUnavailable('the primary does not answer'));
  // An answer that arrived while this worker was busy is read before the timeout counts.
  const timer = setTimeout(() => setImmediate(giveUp), ANSWER_WITHIN_MS);
  toUnavailable(answer)
    .then(resolve, reject)
    .finally(() => clearTimeout(timer));
  return promise;
}
