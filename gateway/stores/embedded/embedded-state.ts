// What the embedded store keeps for good: pins, overrides, published files and ledger, in the database of the data folder.
// One process holds the folder, so that what this process knows is all there is to know.
import type { Override } from '../../policy/lifecycle/override.ts';
import { type CachedPins, createPinCache, type PinRecords } from '../pin-cache.ts';
import { createPinRecords, type PinTexts } from '../pin-records.ts';
import { readPublished, writePublished } from '../published-text.ts';
import type { LastingStores } from '../stores.ts';
import { type TellWorkers, tellingRecords } from '../workers/for-workers.ts';
import { openDataFolder } from './data-folder.ts';
import type { Database, DatabaseOptions } from './database.ts';
import { createEmbeddedLedger } from './ledger.ts';
import { openOverrides } from './overrides.ts';

export interface EmbeddedState extends LastingStores {
  /** The pins as they are kept: for workers, each of which knows pins of its own. */
  readonly records: PinRecords;
  /** Those that this process knows. */
  readonly pins: CachedPins;
}

export interface EmbeddedOptions extends DatabaseOptions {
  /** What workers are told of. */
  readonly tell?: TellWorkers;
}

/** @throws DataFolderError when the folder is held by another process or cannot be used */
export async function openEmbeddedState(folder: string, options: EmbeddedOptions): Promise<EmbeddedState> {
  const { database, close } = await openDataFolder(folder, options);
  const { onFault, tell = async () => undefined } = options;
  const records = tellingRecords(createPinRecords(pinTexts(database), onFault), tell);
  const onOverrides = (overrides: readonly Override[]) => tell({ kind: 'overrides', overrides });
  try {
    return {
      records,
      pins: createPinCache(records),
      overrides: await openOverrides(database, onFault, onOverrides),
      published: {
        read: async () => readPublished(await database.call('readPublished')),
        write: async (entries) => database.call('writePublished', await writePublished(entries)),
      },
      ledger: createEmbeddedLedger(database),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function pinTexts(database: Database): PinTexts {
  return {
    find: (key) => database.call('findPin', key),
    claim: (key, text) => database.call('claimPin', key, text),
    replace: (key, current, next) => database.call('replacePin', key, current, next),
  };
}
