// What the embedded store keeps for good: pins, overrides and the published files, in the database of the data folder.
// One process holds the folder, so that what this process knows is all there is to know.
import { createPinCache, type PinRecords } from '../pin-cache.ts';
import { readPin, writePin } from '../pin-text.ts';
import { readPublished, writePublished } from '../published-text.ts';
import type { LastingStores } from '../stores.ts';
import { openDataFolder } from './data-folder.ts';
import type { Database, DatabaseOptions } from './database.ts';
import { openOverrides } from './overrides.ts';

/** @throws DataFolderError when the folder is held by another process or cannot be used */
export async function openEmbeddedState(folder: string, options: DatabaseOptions): Promise<LastingStores> {
  const { database, close } = await openDataFolder(folder, options);
  try {
    return {
      pins: createPinCache(pinRecords(database)),
      overrides: await openOverrides(database, options.onFault),
      published: {
        read: async () => readPublished(await database.call('readPublished')),
        write: async (files) => database.call('writePublished', await writePublished(files)),
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function pinRecords(database: Database): PinRecords {
  const textOf = (pin: Parameters<typeof writePin>[0] | undefined) =>
    pin === undefined ? undefined : writePin(pin);
  return {
    find: async (key) => {
      const text = await database.call('findPin', key);
      return text === undefined ? undefined : readPin(text);
    },
    claim: async (key, pin) => readPin(await database.call('claimPin', key, writePin(pin))),
    replace: (key, current, next) => database.call('replacePin', key, textOf(current), textOf(next)),
  };
}
