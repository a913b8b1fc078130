// How long a request goes on asking its store: a wait that ends, and does not count what this process was busy with itself.

const TICK_MS = 5;

export interface StoreDeadline extends Disposable {
  readonly expired: boolean;
}

/**
 * Begins to wait: gone after `limitMs` milliseconds (RL-13) in which this process could have heard an answer. They are counted
 * by looks: one that comes late counts no more than one in time, since it was this process that stalled, and the answer
 * may lie there unread.
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
