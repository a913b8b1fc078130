// A deadline for store calls that excludes the time in which this process itself was busy.

const TICK_MS = 5;

export interface StoreDeadline extends Disposable {
  readonly expired: boolean;
}

/**
 * Expires after `limitMs` milliseconds (RL-13) in which this process could have read an answer. Time is
 * counted in timer ticks. A late tick counts as one: this process has stalled, and the answer may be there
 * unread.
 */
export function startStoreDeadline(limitMs: number): StoreDeadline {
  let ticks = 0;
  const timer = setInterval(() => {
    ticks += 1;
  }, TICK_MS);
  timer.unref();
  return {
    get expired() {
      return ticks * TICK_MS >= limitMs;
    },
    [Symbol.dispose]: () => clearInterval(timer),
  };
}
