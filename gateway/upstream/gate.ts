// The places at one target: so many calls at a time, a bounded number that wait, and none that waits for long.
// Passed by each call before it gets a connection; what one target holds up, no other one feels, nor do clients that send slowly.
import type { ConnectionRules } from '../plan/connection-rules.ts';

/** Told once, by exactly one of the two. */
export interface Turn {
  /** `leave` gives the place back; the second time it does nothing. */
  readonly onPlace: (leave: () => void) => void;
  /** No place came free in time, or too many wait already. */
  readonly onBusy: () => void;
}

/** What was asked for at a gate. */
export interface Claim {
  /** Gives the place back, or leaves the queue; the second time it does nothing. */
  readonly leave: () => void;
  /** A request that was still arriving has come whole. */
  readonly whole: () => void;
}

export interface Gate {
  /**
   * Asks for a place; with one free, `onPlace` is called before this returns. `arriving`: its body has not come whole yet.
   * Such requests get half of the places and of the queue at most: how long they stay, their clients decide.
   */
  readonly enter: (rules: ConnectionRules, turn: Turn, arriving?: boolean) => Claim;
  /** Calls with a place, and calls that wait. */
  readonly size: () => { readonly running: number; readonly waiting: number };
}

interface Entry {
  /** Until it has been told: what holds a place for long holds nothing of who asked for it. */
  turn: Turn | undefined;
  /** Its place in the order of those that came. */
  readonly number: number;
  state: 'new' | 'waiting' | 'placed' | 'gone';
  arriving: boolean;
  timer: NodeJS.Timeout | undefined;
}

const halfOf = (all: number): number => Math.ceil(all / 2);

export function createGate(): Gate {
  const wholeQueue = new Set<Entry>();
  const arrivingQueue = new Set<Entry>();
  let running = 0;
  let arrivingRunning = 0;
  let most = 0;
  let came = 0;

  const queueOf = ({ arriving }: Entry): Set<Entry> => (arriving ? arrivingQueue : wholeQueue);
  const hasPlaceFor = (arriving: boolean): boolean =>
    running < most && (!arriving || arrivingRunning < halfOf(most));

  /** Who came first of those that may have the next place. */
  function first(): Entry | undefined {
    const [whole] = hasPlaceFor(false) ? wholeQueue : [];
    const [arriving] = hasPlaceFor(true) ? arrivingQueue : [];
    if (whole === undefined || arriving === undefined) return whole ?? arriving;
    return whole.number < arriving.number ? whole : arriving;
  }

  function advance(): void {
    while (wholeQueue.size > 0 || arrivingQueue.size > 0) {
      const next = first();
      if (next === undefined) return;
      queueOf(next).delete(next);
      clearTimeout(next.timer);
      place(next);
    }
  }

  function place(entry: Entry): void {
    entry.state = 'placed';
    running += 1;
    if (entry.arriving) arrivingRunning += 1;
    toldOf(entry)?.onPlace(() => leave(entry));
  }

  function toldOf(entry: Entry): Turn | undefined {
    const { turn } = entry;
    entry.turn = undefined;
    return turn;
  }

  function leave(entry: Entry): void {
    const { state } = entry;
    entry.state = 'gone';
    if (state === 'waiting') {
      clearTimeout(entry.timer);
      queueOf(entry).delete(entry);
    } else if (state === 'placed') {
      running -= 1;
      if (entry.arriving) arrivingRunning -= 1;
      advance();
    }
  }

  function whole(entry: Entry): void {
    if (!entry.arriving) return;
    if (entry.state === 'waiting') {
      arrivingQueue.delete(entry);
      wholeQueue.add(entry);
    } else if (entry.state === 'placed') arrivingRunning -= 1;
    entry.arriving = false;
    advance();
  }

  return {
    enter({ max, queue, waitMs }, turn, arriving = false) {
      most = max;
      came += 1;
      const entry: Entry = { turn, number: came, state: 'new', arriving, timer: undefined };
      if (hasPlaceFor(arriving)) place(entry);
      else if (
        wholeQueue.size + arrivingQueue.size >= queue ||
        (arriving && arrivingQueue.size >= halfOf(queue))
      )
        toldOf(entry)?.onBusy();
      else {
        entry.state = 'waiting';
        entry.timer = setTimeout(() => {
          leave(entry);
          toldOf(entry)?.onBusy();
        }, waitMs);
        queueOf(entry).add(entry);
      }
      return { leave: () => leave(entry), whole: () => whole(entry) };
    },
    size: () => ({ running, waiting: wholeQueue.size + arrivingQueue.size }),
  };
}
