// What the embedded store keeps for good: pins, overrides and the published files, in the database of the data folder.
// One process holds the folder, so that what this process knows is all there is to know.
import type { Override, OverrideStore } from '../../policy/lifecycle/override.ts';
import { inOrder, readOverrides, writeOverride } from '../override-text.ts';
import { createPinCache, type PinRecords } from '../pin-cache.ts';
import { readPin, writePin } from '../pin-text.ts';
import { readPublished, writePublished } from '../published-text.ts';
import type { LastingStores } from '../stores.ts';
import { openDataFolder } from './data-folder.ts';
import type { Database, DatabaseOptions } from './database.ts';

/** @throws DataFolderError when the folder is held by another process or cannot be used */
export async function openEmbeddedState(folder: string, options: DatabaseOptions): Promise<LastingStores> {
  const { database, close } = await openDataFolder(folder, options);
  try {
    return {
      pins: createPinCache(pinRecords(database)),
      overrides: await openOverrides(database, options.onFault),
      published: {
        read: async () => readPublished(await database.call('readPublished')),
        write: (files) => database.call('writePublished', writePublished(files)),
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

async function openOverrides(database: Database, onFault: (error: unknown) => void): Promise<OverrideStore> {
  let current = readOverrides(await database.call('allOverrides'), onFault);
  const without = (id: string): readonly Override[] => current.filter((each) => each.id !== id);
  return {
    current: () => current,
    put: async (override) => {
      await database.call('putOverride', override.id, writeOverride(override));
      current = inOrder([...without(override.id), override]);
    },
    remove: async (id) => {
      const removed = await database.call('removeOverride', id);
      if (removed) current = without(id);
      return removed;
    },
  };
}
