// The primary's side of the worker stores: answers requests for the embedded store and the guard.
import { type MaybePromise, StoreUnavailable } from '../../policy/contract.ts';
import type { LedgerStore } from '../../policy/usage/ledger.ts';
import type { Pin } from '../../policy/versioning/pin.ts';
import type { IdempotencyTexts } from '../idempotency-records.ts';
import type { KeyTexts } from '../key-cache.ts';
import type { CachedPins } from '../pin-cache.ts';
import type { PinRecords } from '../pin-records.ts';
import type { StoreAnswers, StoreReply, StoreUpdate } from './store-messages.ts';

export type NotifyWorkers = (news: StoreUpdate) => Promise<void>;

export interface OwnedStore {
  readonly take: StoreAnswers['take'];
  readonly takeAll: StoreAnswers['takeAll'];
  readonly records: PinRecords;
  readonly keyTexts: Pick<KeyTexts, 'find'>;
  readonly pins: Pick<CachedPins, 'forgetAbsence'>;
  readonly idempotencyTexts: IdempotencyTexts;
  readonly ledger: LedgerStore;
}

export function answerWorkers(
  { take, takeAll, records, keyTexts, idempotencyTexts, pins, ledger }: OwnedStore,
  guard: StoreAnswers['guard'],
  notifyWorkers: NotifyWorkers,
): StoreAnswers {
  return {
    take,
    takeAll,
    guard,
    findPin: (key) => storeReply(records.find(key)),
    findKey: (id) => storeReply(keyTexts.find(id)),
    claimKey: ({ key, owner, lockMs }) => storeReply(idempotencyTexts.claim(key, owner, lockMs)),
    settleKey: ({ key, owner, next }) => storeReply(idempotencyTexts.settle(key, owner, next)),
    claimPin: async ({ key, pin }) => {
      const stored = await storeReply(records.claim(key, pin));
      pins.forgetAbsence(key);
      // Not awaited: a worker that still caches the absence claims a pin and gets this one. Sent after the
      // answer, when the requesting worker knows the pin.
      setImmediate(() => void notifyWorkers({ kind: 'pin_claimed', key }));
      return stored;
    },
    readUsage: ({ filter, page }) => storeReply(ledger.read(filter, page)),
    addUsage: (batch) => storeReply(ledger.add(batch)),
    firstUsage: (subject) => storeReply(ledger.firstSeen(subject)),
  };
}

export function answerGuardOnly(guard: StoreAnswers['guard']): StoreAnswers {
  const unsupported = (): never => {
    throw new Error('workers call Redis themselves');
  };
  return {
    ...{
      take: unsupported,
      takeAll: unsupported,
      guard,
      findPin: unsupported,
      claimPin: unsupported,
      findKey: unsupported,
    },
    ...{ claimKey: unsupported, settleKey: unsupported },
    ...{ readUsage: unsupported, addUsage: unsupported, firstUsage: unsupported },
  };
}

/** `replace` resolves when every worker has been notified of the moved pin. */
export function notifyingPinRecords(records: PinRecords, notifyWorkers: NotifyWorkers): PinRecords {
  return {
    ...records,
    replace: async (key: string, current: Pin | undefined, next: Pin | undefined) => {
      const done = await records.replace(key, current, next);
      if (done) await notifyWorkers({ kind: 'pin_moved', key });
      return done;
    },
  };
}

/** `replace` resolves when every worker has been notified of the changed key. */
export function notifyingKeyTexts(texts: KeyTexts, notifyWorkers: NotifyWorkers): KeyTexts {
  return {
    ...texts,
    replace: async (id, current, next) => {
      const done = await texts.replace(id, current, next);
      if (done) await notifyWorkers({ kind: 'key_changed', id });
      return done;
    },
  };
}

async function storeReply<T>(answer: MaybePromise<T>): Promise<StoreReply<T>> {
  try {
    return { kind: 'kept', value: await answer };
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    return { kind: 'away', reason: error.message };
  }
}
