// The stores of a worker: limits by leases from the primary; pins and overrides cached, with updates from the primary.
import type { KeyLookup } from '../../policy/authentication/key-record.ts';
import { type MaybePromise, StoreUnavailable } from '../../policy/contract.ts';
import type { Override } from '../../policy/lifecycle/override.ts';
import type { Take, Taken } from '../../policy/rate-limit/limit.ts';
import type { LedgerStore } from '../../policy/usage/ledger.ts';
import { createEmbeddedRateLimitStore } from '../embedded/rate-limit.ts';
import { type ClaimTexts, createIdempotencyStore } from '../idempotency-records.ts';
import { type CachedKeys, createKeyCache, type KeyTexts } from '../key-cache.ts';
import { createLeasedTake, createLeasingStore } from '../leases.ts';
import { openStores } from '../open-stores.ts';
import { type CachedPins, createPinCache } from '../pin-cache.ts';
import type { PinRecords } from '../pin-records.ts';
import { createRateLimiter, mirroredIn, partOf } from '../rate-limiter.ts';
import { startStoreDeadline } from '../store-deadline.ts';
import type { StoreOptions, Stores } from '../stores.ts';
import type { StoreAnswers, StoreNews, StoreReply, StoreStart } from './store-messages.ts';

/** Longer than for Redis: the primary is on this machine, so a late answer means a busy processor and not an outage. */
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
  readonly applyNews: (news: StoreNews) => void;
}

export async function openWorkerStores(options: WorkerStoreOptions): Promise<WorkerStores> {
  const { store, workers, replicas, monotonic: now, ask } = options;
  const guard = createGuard(options);
  switch (store.kind) {
    case 'embedded': {
      const local = createEmbeddedRateLimitStore({ now, keepsDebts: true });
      const exact = mirroredIn(local, {
        take: (take) => inTime(ask('take', neededOf(take))),
        takeAll: (takes) => inTime(ask('takeAll', takes.map(neededOf))),
      });
      const shared = createLeasingStore(exact, {
        now,
        startDeadline: () => startStoreDeadline(ANSWER_WITHIN_MS),
      });
      const limiter = createRateLimiter({ shared, exact, local, replicas: workers });
      const pins = createPinCache(pinRecords(ask));
      const ledger = ledgerOf(ask);
      const keys = createKeyCache(keyTexts(ask), options.onFault);
      const idempotency = createIdempotencyStore(claimTexts(ask), options.onFault);
      const known = openKnown(options.start, pins, keys);
      return { limiter, guard, pins, keys, idempotency, ledger, ...known, close: async () => undefined };
    }
    case 'redis': {
      const stores = await openStores({ ...options, replicas: replicas * workers });
      return { ...stores, guard, applyNews: () => undefined };
    }
    default:
      return store satisfies never;
  }
}

/** One bucket per address for all workers, by leases. While the primary does not answer: this process's share of the limit. */
function createGuard({ monotonic: now, ask, workers }: WorkerStoreOptions): Stores['guard'] {
  const leased = createLeasedTake(
    { take: (take) => inTime(ask('guard', take)) },
    { now, startDeadline: () => startStoreDeadline(ANSWER_WITHIN_MS) },
  );
  const local = createEmbeddedRateLimitStore({ now });
  return (key, limit): MaybePromise<Taken> => {
    const take: Take = { key, limit, cost: 1 };
    const answer = leased(take);
    if (!(answer instanceof Promise)) return answer;
    return answer.catch((error: unknown) => {
      if (!(error instanceof StoreUnavailable)) throw error;
      return local.take({ ...take, limit: partOf(take, workers) });
    });
  };
}

function openKnown(
  start: StoreStart,
  pins: CachedPins,
  keys: CachedKeys,
): Pick<WorkerStores, 'overrides' | 'applyNews'> {
  let overrides: readonly Override[] = start?.overrides ?? [];
  return {
    overrides: { current: () => overrides },
    applyNews: (news) => {
      switch (news.kind) {
        case 'overrides':
          overrides = news.overrides;
          return;
        case 'key_changed':
          keys.forget(news.id);
          return;
        case 'pin_moved':
          pins.forget(news.key);
          return;
        case 'pin_claimed':
          pins.forgetAbsence(news.key);
          return;
        default:
          news satisfies never;
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
    read: async (filter, page) => replyValue(await inTime(ask('readUsage', { filter, page }))),
    add: async (batch) => replyValue(await inTime(ask('addUsage', batch))),
    firstSeen: async (subject) => replyValue(await inTime(ask('firstUsage', subject))),
  };
}

function claimTexts(ask: AskPrimary): ClaimTexts {
  return {
    claim: async (key, owner, lockMs) => replyValue(await inTime(ask('claimKey', { key, owner, lockMs }))),
    settle: async (key, owner, next) => replyValue(await inTime(ask('settleKey', { key, owner, next }))),
  };
}

function pinRecords(ask: AskPrimary): PinRecords {
  return {
    find: async (key) => replyValue(await orUnavailable(ask('findPin', key))),
    claim: async (key, pin) => replyValue(await orUnavailable(ask('claimPin', { key, pin }))),
    replace: () => Promise.reject(new Error('pins are moved by the primary')),
  };
}

function keyTexts(ask: AskPrimary): KeyTexts {
  const unsupported = () => Promise.reject(new Error('API keys are managed by the primary'));
  return {
    find: async (id) => replyValue(await inTime(ask('findKey', id))),
    list: unsupported,
    replace: unsupported,
  };
}

/** Any failure of the primary counts as an unavailable store. */
async function orUnavailable<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    throw new StoreUnavailable(error instanceof Error ? error.message : String(error));
  }
}

/** Only the fields that the store needs; a `Part` also holds fields that cannot be cloned. */
function neededOf({ key, limit, cost }: Take): Take {
  return { key, limit, cost };
}

function inTime<T>(answer: Promise<T>): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const giveUp = (): void => reject(new StoreUnavailable('the primary does not answer'));
  // An answer that arrived while this worker was busy is read before the timeout counts.
  const timer = setTimeout(() => setImmediate(giveUp), ANSWER_WITHIN_MS);
  orUnavailable(answer)
    .then(resolve, reject)
    .finally(() => clearTimeout(timer));
  return promise;
}
