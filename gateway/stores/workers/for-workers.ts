// The primary's end of the stores: what workers ask of the embedded store that it owns, and of the guard.
import { type MaybePromise, StoreUnavailable } from '../../policy/contract.ts';
import type { LedgerStore } from '../../policy/usage/ledger.ts';
import type { Pin } from '../../policy/versioning/pin.ts';
import type { ClaimTexts } from '../idempotency-records.ts';
import type { KeyTexts } from '../key-cache.ts';
import type { CachedPins } from '../pin-cache.ts';
import type { PinRecords } from '../pin-records.ts';
import type { Kept, StoreAnswers, StoreNews } from './spoken.ts';

export type TellWorkers = (news: StoreNews) => Promise<void>;

export interface OwnedStore {
  readonly take: StoreAnswers['take'];
  readonly takeAll: StoreAnswers['takeAll'];
  /** As they are kept. */
  readonly records: PinRecords;
  readonly keyTexts: Pick<KeyTexts, 'find'>;
  /** As this process knows them. */
  readonly pins: Pick<CachedPins, 'forgetAbsence'>;
  readonly claimTexts: ClaimTexts;
  readonly ledger: LedgerStore;
}

export function answerWorkers(
  { take, takeAll, records, keyTexts, claimTexts, pins, ledger }: OwnedStore,
  guard: StoreAnswers['guard'],
  tell: TellWorkers,
): StoreAnswers {
  return {
    take,
    takeAll,
    guard,
    findPin: (key) => kept(records.find(key)),
    findKey: (id) => kept(keyTexts.find(id)),
    claimKey: ({ key, owner, lockMs }) => kept(claimTexts.claim(key, owner, lockMs)),
    settleKey: ({ key, owner, next }) => kept(claimTexts.settle(key, owner, next)),
    claimPin: async ({ key, pin }) => {
      const standing = await kept(records.claim(key, pin));
      pins.forgetAbsence(key);
      // Not waited for: who still thinks that there is none claims one, and gets this. After the answer, so that the
      // worker that asked knows the pin by then and has no absence to forget.
      setImmediate(() => void tell({ kind: 'pin_claimed', key }));
      return standing;
    },
    readUsage: ({ filter, page }) => kept(ledger.read(filter, page)),
    addUsage: (batch) => kept(ledger.add(batch)),
    firstUsage: (subject) => kept(ledger.firstSeen(subject)),
  };
}

/** For a store that is not the primary's. */
export function answerGuardOnly(guard: StoreAnswers['guard']): StoreAnswers {
  const nobody = (): never => {
    throw new Error('with this store workers ask it themselves');
  };
  return {
    ...{ take: nobody, takeAll: nobody, guard, findPin: nobody, claimPin: nobody, findKey: nobody },
    ...{ claimKey: nobody, settleKey: nobody },
    ...{ readUsage: nobody, addUsage: nobody, firstUsage: nobody },
  };
}

/** Pins that workers are told of when they have moved: whoever moves one waits until all have heard. */
export function tellingRecords(records: PinRecords, tell: TellWorkers): PinRecords {
  return {
    ...records,
    replace: async (key: string, current: Pin | undefined, next: Pin | undefined) => {
      const done = await records.replace(key, current, next);
      if (done) await tell({ kind: 'pin_moved', key });
      return done;
    },
  };
}

/** The same for API keys: whoever revokes one waits until all have heard. */
export function tellingKeyTexts(texts: KeyTexts, tell: TellWorkers): KeyTexts {
  return {
    ...texts,
    replace: async (id, current, next) => {
      const done = await texts.replace(id, current, next);
      if (done) await tell({ kind: 'key_changed', id });
      return done;
    },
  };
}

async function kept<T>(answer: MaybePromise<T>): Promise<Kept<T>> {
  try {
    return { kind: 'kept', value: await answer };
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    return { kind: 'away', reason: error.message };
  }
}
