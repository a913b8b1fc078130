// The places at one target: so many calls at a time, a bounded number that wait, and none that waits for long.
// Passed by each call before it gets a connection; what one target holds up, no other one feels.
import type { ConnectionRules } from '../plan/connection-rules.ts';

/** Told once, by exactly one of the two. */
export interface Turn {
  /** `leave` gives the place back; the second time it does nothing. */
  readonly onPlace: (leave: () => void) => void;
  /** No place came free in time, or too many wait already. */
  readonly onBusy: () => void;
}

export interface Gate {
  /**
   * Asks for a place; with one free, `onPlace` is called before this returns. What is returned gives the place back too, or
   * leaves the queue.
   */
  readonly enter: (rules: ConnectionRules, turn: Turn) => () => void;
  /** Calls with a place, and calls that wait. */
  readonly size: () => { readonly running: number; readonly waiting: number };
}

interface Waiting {
  readonly turn: Turn;
  readonly timer: NodeJS.Timeout;
  /** Once it has its place. */
  leave: (() => void) | undefined;
}

export function createGate(): Gate {
  // In the order they came.
  const queue = new Set<Waiting>();
  let running = 0;
  let most = 0;

  function advance(): void {
    for (const first of queue) {
      if (running >= most) return;
      queue.delete(first);
      clearTimeout(first.timer);
      place(first);
    }
  }

  function place(entry: Pick<Waiting, 'turn' | 'leave'>): void {
    running += 1;
    entry.leave = () => {
      entry.leave = () => undefined;
      running -= 1;
      advance();
    };
    entry.turn.onPlace(() => entry.leave?.());
  }

  return {
    enter({ max, queue: longest, waitMs }, turn) {
      most = max;
      if (running < max) {
        const entry = { turn, leave: undefined };
        place(entry);
        return () => leaveOf(entry);
      }
      if (queue.size >= longest) {
        turn.onBusy();
        return () => undefined;
      }
      const timer = setTimeout(() => {
        queue.delete(waiting);
        turn.onBusy();
      }, waitMs);
      const waiting: Waiting = { turn, timer, leave: undefined };
      queue.add(waiting);
      return () => {
        clearTimeout(timer);
        queue.delete(waiting);
        leaveOf(waiting);
      };
    },
    size: () => ({ running, waiting: queue.size }),
  };
}

function leaveOf({ leave }: Pick<Waiting, 'leave'>): void {
  leave?.();
}
