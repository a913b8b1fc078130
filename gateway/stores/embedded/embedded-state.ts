// What the embedded store keeps for good: pins, API keys, overrides, idempotency keys, published files, ledger, announcements.
import { StoreUnavailable } from '../../policy/contract.ts';
import type { Override, OverrideStore } from '../../policy/lifecycle/override.ts';
import { dayNumber } from '../../policy/usage/day.ts';
import type { LedgerStore } from '../../policy/usage/ledger.ts';
import { type ClaimTexts, createIdempotencyStore } from '../idempotency-records.ts';
import { createKeyCache, type KeyTexts } from '../key-cache.ts';
import { inOrder, readOverrides, writeOverride } from '../override-text.ts';
import { type CachedPins, createPinCache } from '../pin-cache.ts';
import { createPinRecords, type PinRecords, type PinTexts } from '../pin-records.ts';
import { readPublished, writePublished } from '../published-text.ts';
import type { LastingStores } from '../stores.ts';
import { dayNumbers, readPage } from '../usage-text.ts';
import { type NotifyWorkers, notifyingKeyTexts, notifyingPinRecords } from '../workers/primary-stores.ts';
import { openDataFolder } from './data-folder.ts';
import type { Database, DatabaseOptions } from './database.ts';

export interface EmbeddedState extends LastingStores {
  /** The pins as they are kept: for workers, each of which knows pins of its own. */
  readonly records: PinRecords;
  /** The API keys as they are kept. */
  readonly keyTexts: KeyTexts;
  /** Those that this process knows. */
  readonly pins: CachedPins;
  /** Idempotency keys as they are kept, for workers. */
  readonly claimTexts: ClaimTexts;
}

export interface EmbeddedOptions extends DatabaseOptions {
  /** Sends news to the workers. */
  readonly notifyWorkers?: NotifyWorkers;
}

/** What one turn of the thread looks at: a few milliseconds, though a record may have hundreds of days. */
const MOST_AT_ONCE = 100;
/** For records with all their days. */
const MOST_WHOLE_AT_ONCE = 20;

/** @throws DataFolderError when the folder is held by another process or cannot be used */
export async function openEmbeddedState(folder: string, options: EmbeddedOptions): Promise<EmbeddedState> {
  const { database, close } = await openDataFolder(folder, options);
  const { onFault, notifyWorkers = async () => undefined } = options;
  const records = notifyingPinRecords(createPinRecords(pinTexts(database), onFault), notifyWorkers);
  const keyTexts = notifyingKeyTexts(keyTextsIn(database), notifyWorkers);
  const claimTexts: ClaimTexts = {
    claim: (key, owner, lockMs) => database.call('claimKey', key, owner, lockMs),
    settle: (key, owner, next) => database.call('settleKey', key, owner, next),
  };
  const onOverrides = (overrides: readonly Override[]) => notifyWorkers({ kind: 'overrides', overrides });
  try {
    return {
      records,
      pins: createPinCache(records),
      keyTexts,
      keys: createKeyCache(keyTexts, onFault),
      claimTexts,
      idempotency: createIdempotencyStore(claimTexts, onFault),
      overrides: await openOverrides(database, onFault, onOverrides),
      published: {
        read: async () => {
          const { text, mark } = await database.call('readPublished');
          return { entries: await readPublished(text), mark };
        },
        write: async (entries, mark) => database.call('writePublished', await writePublished(entries), mark),
      },
      ledger: createEmbeddedLedger(database),
      announced: {
        find: (ids) => database.call('findAnnounced', ids),
        claim: (id, owner, leaseMs) => database.call('claimAnnounced', id, owner, leaseMs),
        keep: (id, text) => database.call('keepAnnounced', id, text),
        release: (id, owner) => database.call('releaseAnnounced', id, owner),
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function keyTextsIn(database: Database): KeyTexts {
  return {
    find: (id) => database.call('findKey', id),
    list: () => database.call('allKeys'),
    replace: (id, current, next) => database.call('replaceKey', id, current, next),
  };
}

function pinTexts(database: Database): PinTexts {
  return {
    find: (key) => database.call('findPin', key),
    claim: (key, text) => database.call('claimPin', key, text),
    replace: (key, current, next) => database.call('replacePin', key, current, next),
  };
}

function createEmbeddedLedger({ call }: Pick<Database, 'call'>): LedgerStore {
  return {
    add: (batch) => call('addUsage', batch),
    read: async (filter, page) => {
      // Before the thread has it: what throws there takes the whole batch along, and with it what others have asked.
      const since = filter.since === undefined ? 0 : dayNumber(filter.since);
      return readPage(
        (after, most) => call('readUsage', filter, since, after, most),
        page,
        MOST_WHOLE_AT_ONCE,
      );
    },
    count: async (filter, days, page) => {
      const numbers = dayNumbers(days);
      return readPage((after, most) => call('countUsage', filter, numbers, after, most), page, MOST_AT_ONCE);
    },
    firstSeen: (subject) => call('firstUsage', subject),
    beganAt: (of) => call('usageBegan', of?.api, of?.version),
    unwatch: async () => {
      await call('unwatchUsage');
    },
    erase: async (consumer) => {
      let erased = 0;
      for (;;) {
        const count = await call('eraseUsage', consumer, MOST_AT_ONCE);
        erased += count;
        if (count < MOST_AT_ONCE) return erased;
      }
    },
    sweep: async (day) => {
      const before = dayNumber(day);
      let removed = 0;
      for (let after: number | undefined = 0; after !== undefined; ) {
        const swept: { removed: number; next: number | undefined } = await call(
          'sweepUsage',
          before,
          after,
          MOST_AT_ONCE,
        );
        removed += swept.removed;
        after = swept.next;
      }
      return removed;
    },
  };
}

/**
 * `onChange` is told of them whenever they change; who changes them waits for it.
 * @throws StoreUnavailable when they cannot be read at first
 */
export async function openOverrides(
  database: Pick<Database, 'call' | 'settled'>,
  onFault: (error: unknown) => void,
  onChange: (overrides: readonly Override[]) => Promise<void> | void = () => undefined,
): Promise<OverrideStore> {
  const read = async () => readOverrides(await database.call('allOverrides'), onFault);
  let current = await read();
  const set = (next: readonly Override[]): Promise<void> | void => {
    current = next;
    return onChange(current);
  };
  const without = (id: string): readonly Override[] => current.filter((each) => each.id !== id);

  /** What was given up may happen all the same: once the disk answers, the file says whether it has. */
  const reread = async (): Promise<void> => {
    try {
      await database.settled();
      await set(await read());
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) onFault(error);
    }
  };
  const change = async <T>(done: Promise<T>): Promise<T> => {
    try {
      return await done;
    } catch (error) {
      void reread();
      throw error;
    }
  };

  return {
    current: () => current,
    wasRead: () => true,
    put: async (override) => {
      await change(database.call('putOverride', override.id, writeOverride(override)));
      await set(inOrder([...without(override.id), override]));
    },
    remove: async (id) => {
      const removed = await change(database.call('removeOverride', id));
      if (removed) await set(without(id));
      return removed;
    },
  };
}
