// How long a request goes on asking its store: a wait that ends, and does not count what this process was busy with itself.

const LOOK_EVERY_MS = 5;

export interface Patience extends Disposable {
  readonly gone: boolean;
}

/**
 * Begins to wait: gone after `limitMs` milliseconds (RL-13) in which this process could have heard an answer. They are counted
 * by looks: one that comes late counts no more than one in time, since it was this process that stalled, and the answer
 * may lie there unread.
 */
export function startPatience(limitMs: number): Patience {
  let looks = 0;
  const timer = setInterval(() => {
    looks += 1;
  }, LOOK_EVERY_MS);
  timer.unref();
  return {
    get gone() {
      return looks * LOOK_EVERY_MS >= limitMs;
    },
    [Symbol.dispose]: () => clearInterval(timer),
  };
}
