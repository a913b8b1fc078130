// The primary's end of the stores: what workers ask of the embedded store that it owns, and of the guard.
// Made by open-stores.ts; nobody asks it where there are no workers.
import { type MaybePromise, StoreUnavailable } from '../../policy/contract.ts';
import type { Take, Taken } from '../../policy/rate-limit/limit.ts';
import type { LedgerStore } from '../../policy/usage/ledger.ts';
import type { Pin } from '../../policy/versioning/pin.ts';
import type { CachedPins, PinRecords } from '../pin-cache.ts';
import type { Kept, StoreAnswers, StoreNews } from './spoken.ts';

export type TellWorkers = (news: StoreNews) => Promise<void>;

export interface OwnedStore {
  readonly take: (take: Take) => Taken;
  /** As they are kept. */
  readonly records: PinRecords;
  /** As this process knows them. */
  readonly pins: Pick<CachedPins, 'forgetAbsence'>;
  readonly ledger: LedgerStore;
}

export function answerWorkers(
  { take, records, pins, ledger }: OwnedStore,
  guard: StoreAnswers['guard'],
  tell: TellWorkers,
): StoreAnswers {
  return {
    take,
    guard,
    findPin: (key) => kept(records.find(key)),
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
    usageBegan: (of) => kept(ledger.beganAt(of)),
  };
}

/** For a store that is not the primary's. */
export function answerGuardOnly(guard: StoreAnswers['guard']): StoreAnswers {
  const nobody = (): never => {
    throw new Error('with this store workers ask it themselves');
  };
  return {
    ...{ take: nobody, guard, findPin: nobody, claimPin: nobody },
    ...{ readUsage: nobody, addUsage: nobody, firstUsage: nobody, usageBegan: nobody },
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

async function kept<T>(answer: MaybePromise<T>): Promise<Kept<T>> {
  try {
    return { kind: 'kept', value: await answer };
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    return { kind: 'away', reason: error.message };
  }
}
