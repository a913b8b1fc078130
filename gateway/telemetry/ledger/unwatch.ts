// Tells the store that nobody counts: what it was told before would make silence of ignorance once somebody counts again.
// Started by gateway.ts in place of the ledger where that is off.
import { StoreUnavailable } from '../../policy/contract.ts';
import type { LedgerStore } from '../../policy/usage/ledger.ts';
import type { Logger } from '../logger.ts';

const TRY_AGAIN_AFTER_MS = 5_000;

/** Tries until the store has heard it. The result ends that. */
export function stopWatching(
  { unwatch }: Pick<LedgerStore, 'unwatch'>,
  logger: Pick<Logger, 'error'>,
): () => void {
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  const tell = (): void =>
    void unwatch().catch((error: unknown) => {
      if (!(error instanceof StoreUnavailable))
        logger.error('the ledger cannot be told that it is off', { error });
      else if (!isOver) timer = setTimeout(tell, TRY_AGAIN_AFTER_MS).unref();
    });
  tell();
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}
