// Retries a store call that must not be lost while the store is unavailable.
import { setTimeout as pause } from 'node:timers/promises';
import { StoreUnavailable } from './store.ts';

const PAUSES_MS = [50, 100, 200, 400, 800, 1_600, 3_200] as const;

/** Rejects with the error of the last attempt: `StoreUnavailable` after some seconds or at the end of the service, others at once. */
export async function retryWhileUnavailable<T>(ask: () => Promise<T>, ending: AbortSignal): Promise<T> {
  for (const waitMs of PAUSES_MS) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof StoreUnavailable) || ending.aborted) throw error;
    }
    await pause(waitMs);
  }
  return ask();
}
