// A clock that a test advances by hand, with timers.
import type { Clock } from '../../gateway/upstream/deadlines.ts';

export interface ManualClock extends Clock {
  /** Advances the clock. Each timer runs at its own time, and pending promises get a turn. */
  readonly pass: (ms: number) => Promise<void>;
  readonly pending: () => number;
}

export function createManualClock(): ManualClock {
  const timers = new Set<{ readonly at: number; readonly run: () => void }>();
  let now = 1_000;
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  return {
    now: () => now,
    after(ms, run) {
      const timer = { at: now + ms, run };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    async pass(ms) {
      const end = now + ms;
      for (;;) {
        const [next] = [...timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at);
        if (next === undefined) break;
        now = next.at;
        timers.delete(next);
        next.run();
        await turn();
      }
      now = end;
      await turn();
    },
    pending: () => timers.size,
  };
}
