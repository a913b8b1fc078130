// Deletes ledger records after their retention period, and marks in the store that counting has stopped.
import { type EpochMs, StoreUnavailable } from '../../policy/contract.ts';
import { dayNamed, dayNumberAt } from '../../policy/usage/day.ts';
import type { LedgerStore } from '../../policy/usage/ledger.ts';
import { oldestKept } from '../../policy/usage/window.ts';
import type { Logger } from '../logs/logger.ts';

export interface SweepOptions {
  readonly store: Pick<LedgerStore, 'sweep'>;
  /** Days, today included. */
  readonly keepDays: number;
  /** The real clock: an offset of the lifecycle clock must not delete records. */
  readonly wallClock: () => EpochMs;
  readonly onSwept: (removed: number) => void;
  readonly onFault: (error: unknown) => void;
}

export interface Sweeping {
  /** Sweeps, unless it has swept today. Runs every hour, first a minute after the start. */
  readonly look: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

const FIRST_AFTER_MS = 60_000;
const EVERY_MS = 3_600_000;

export function startSweeping({ store, keepDays, wallClock, onSwept, onFault }: SweepOptions): Sweeping {
  let sweptOn: number | undefined;
  let running: Promise<void> | undefined;

  const sweep = async (): Promise<void> => {
    const now = wallClock();
    const today = dayNumberAt(now);
    if (today === sweptOn) return;
    const removed = await store.sweep(dayNamed(dayNumberAt(oldestKept(now, keepDays))));
    sweptOn = today;
    if (removed > 0) onSwept(removed);
  };
  const look = (): Promise<void> => {
    running ??= sweep()
      .catch((error: unknown) => {
        // The next call, in an hour, retries after an outage of the store.
        if (!(error instanceof StoreUnavailable)) onFault(error);
      })
      .finally(() => {
        running = undefined;
      });
    return running;
  };
  let timer = setTimeout(function again() {
    void look();
    timer = setTimeout(again, EVERY_MS);
    timer.unref();
  }, FIRST_AFTER_MS);
  timer.unref();

  return {
    look,
    stop: async () => {
      clearTimeout(timer);
      await running;
    },
  };
}

const TRY_AGAIN_AFTER_MS = 5_000;

/** Retries until the store has recorded it. The result cancels that. */
export function stopWatching(
  { unwatch }: Pick<LedgerStore, 'unwatch'>,
  logger: Pick<Logger, 'error'>,
): () => void {
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  const tell = (): void =>
    void unwatch().catch((error: unknown) => {
      if (!(error instanceof StoreUnavailable))
        logger.error('recording in the store that the ledger is off failed', { error });
      else if (!isOver) timer = setTimeout(tell, TRY_AGAIN_AFTER_MS).unref();
    });
  tell();
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}
