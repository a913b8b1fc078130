// What the embedded store keeps for good: pins, API keys, overrides, idempotency keys, published files, ledger, announcements.
// One process holds the folder, so that what this process knows is all there is to know.
import type { Override } from '../../policy/lifecycle/override.ts';
import { type ClaimTexts, createIdempotencyStore } from '../idempotency-records.ts';
import { createKeyCache, type KeyTexts } from '../key-cache.ts';
import { type CachedPins, createPinCache, type PinRecords } from '../pin-cache.ts';
import { createPinRecords, type PinTexts } from '../pin-records.ts';
import { readPublished, writePublished } from '../published-text.ts';
import type { LastingStores } from '../stores.ts';
import { type TellWorkers, tellingKeyTexts, tellingRecords } from '../workers/for-workers.ts';
import { openDataFolder } from './data-folder.ts';
import type { Database, DatabaseOptions } from './database.ts';
import { createEmbeddedLedger } from './ledger.ts';
import { openOverrides } from './overrides.ts';

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
  /** What workers are told of. */
  readonly tell?: TellWorkers;
}

/** @throws DataFolderError when the folder is held by another process or cannot be used */
export async function openEmbeddedState(folder: string, options: EmbeddedOptions): Promise<EmbeddedState> {
  const { database, close } = await openDataFolder(folder, options);
  const { onFault, tell = async () => undefined } = options;
  const records = tellingRecords(createPinRecords(pinTexts(database), onFault), tell);
  const keyTexts = tellingKeyTexts(keyTextsIn(database), tell);
  const claimTexts: ClaimTexts = {
    claim: (key, owner, lockMs) => database.call('claimKey', key, owner, lockMs),
    settle: (key, owner, next) => database.call('settleKey', key, owner, next),
  };
  const onOverrides = (overrides: readonly Override[]) => tell({ kind: 'overrides', overrides });
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
