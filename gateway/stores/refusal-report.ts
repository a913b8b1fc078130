// Why a store that is there keeps nothing: out of memory, a full disk, no leave. For the log; clients learn nothing of it.
// Made by open-stores.ts for either store.
import type { StoreOptions } from './stores.ts';

const TOLD_AGAIN_AFTER_MS = 60_000;

/** Tells `onFault` of each reason, once for every minute that it goes on. A reason may not hold a secret. */
export function createRefusalReport(
  store: string,
  { monotonic, onFault }: Pick<StoreOptions, 'monotonic' | 'onFault'>,
): (reason: string) => void {
  const told = new Map<string, number>();
  return (reason) => {
    const now = monotonic();
    if (now - (told.get(reason) ?? Number.NEGATIVE_INFINITY) < TOLD_AGAIN_AFTER_MS) return;
    told.set(reason, now);
    onFault(new Error(`${store} refuses what is asked of it (${reason})`));
  };
}
