// The persistent state of an embedded store, and the ports of sundial.db.
import { StoreUnavailable } from '../../policy/contract.ts';
import type { Override, OverrideStore } from '../../policy/lifecycle/override.ts';
import { createIdempotencyStore, type IdempotencyTexts } from '../idempotency-records.ts';
import { createKeyCache, type KeyTexts } from '../key-cache.ts';
import { inOrder, readOverrides, writeOverride } from '../override-text.ts';
import { type CachedPins, createPinCache } from '../pin-cache.ts';
import { createPinRecords, type PinRecords, type PinTexts } from '../pin-records.ts';
import { openEmbeddedPorts } from '../ports.ts';
import type { PersistentStores, Stores } from '../stores.ts';
import { type NotifyWorkers, notifyingKeyTexts, notifyingPinRecords } from '../workers/primary-stores.ts';
import { type Backup, writeBackup } from './backup.ts';
import { openDataFolder } from './data-folder.ts';
import type { Database, DatabaseOptions } from './database.ts';

export interface EmbeddedState extends PersistentStores {
  /** Uncached pins, for workers: each worker has a cache of its own. */
  readonly records: PinRecords;
  /** Stored texts of the API keys, for workers. */
  readonly keyTexts: KeyTexts;
  readonly pins: CachedPins;
  readonly backup: NonNullable<Stores['backup']>;
  /** Stored idempotency keys, for workers. */
  readonly idempotencyTexts: IdempotencyTexts;
}

export interface EmbeddedOptions extends DatabaseOptions {
  readonly notifyWorkers?: NotifyWorkers;
}

/** @throws DataFolderError if another process has locked the folder, or the folder is unusable */
export async function openEmbeddedState(folder: string, options: EmbeddedOptions): Promise<EmbeddedState> {
  const data = await openDataFolder(folder, options);
  const { database, close } = data;
  // A call during a backup gets the result of the running backup.
  let backup: Promise<Backup> | undefined;
  const { onFault, notifyWorkers = async () => undefined } = options;
  const records = notifyingPinRecords(createPinRecords(pinTexts(database), onFault), notifyWorkers);
  const keyTexts = notifyingKeyTexts(keyTextsIn(database), notifyWorkers);
  const idempotencyTexts: IdempotencyTexts = {
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
      idempotencyTexts,
      idempotency: createIdempotencyStore(idempotencyTexts, onFault),
      overrides: await openOverrides(database, onFault, onOverrides),
      ...openEmbeddedPorts(database.call),
      backup: (at) => {
        backup ??= writeBackup(data, at).finally(() => {
          backup = undefined;
        });
        return backup;
      },
      close: async () => {
        // Waits for a running backup, so that its caller gets the result.
        await Promise.allSettled([backup]);
        await close();
      },
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

/**
 * `onChange` gets the overrides after each change, and the change waits for it.
 * @throws StoreUnavailable if the first read fails
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

  /**
   * A call that was rejected as too late may still be carried out. Reading the file again shows whether it
   * was.
   */
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
