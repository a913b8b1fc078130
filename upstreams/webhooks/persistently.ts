// Asks a store that is away again, for what would be done twice if it were forgotten.
// Used by deliver.ts after an attempt.
import { setTimeout as pause } from 'node:timers/promises';
import { StoreAway } from './store.ts';

const PAUSES_MS = [50, 100, 200, 400, 800, 1_600, 3_200] as const;

/** Rejects as the last try did: with `StoreAway` after some seconds or at the end of the service, with others at once. */
export async function persistently<T>(ask: () => Promise<T>, ending: AbortSignal): Promise<T> {
  for (const waitMs of PAUSES_MS) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof StoreAway) || ending.aborted) throw error;
    }
    await pause(waitMs);
  }
  return ask();
}
