// How many calls to one target run at a time, how many wait for a slot, and for how long.
import type { ConnectionRules } from '../plan/upstreams/connection-rules.ts';
import type { Deadline, StartDeadline } from './deadlines.ts';
import type { CallOutcome, Choice } from './targets/target-state.ts';

/** Exactly one of the two is called, once; neither after `settle`. */
export interface SlotEvents {
  /** Called before `enter` returns where a slot is free. */
  readonly onSlot: () => void;
  /** No slot came free in time, or too many wait already. */
  readonly onBusy: () => void;
}

export interface ConcurrencyLimit {
  /**
   * Asks for a slot. Requests whose bodies are still arriving get half of the slots and of the queue at most: how long they
   * stay, their clients decide.
   */
  readonly enter: (slot: Slot, rules: ConnectionRules) => void;
  readonly bodyArrived: (slot: Slot) => void;
  readonly release: (slot: Slot) => void;
  /** Calls with a slot, and calls that wait. */
  readonly size: () => { readonly running: number; readonly waiting: number };
}

/** One call's use of one target: its slot and its choice, given back together. */
export class Slot {
  state: 'new' | 'waiting' | 'running' | 'over' = 'new';
  /** Its place in the order of those that came. */
  number = 0;
  /** The body of its request has not come whole yet. */
  arriving: boolean;
  /** Until it has been called: what runs for long holds nothing of who asked for it. */
  waiting: SlotEvents | undefined;
  deadline: Deadline | undefined;
  readonly #limit: ConcurrencyLimit;
  readonly #choice: Choice;

  constructor(limit: ConcurrencyLimit, choice: Choice, arriving: boolean, waiting: SlotEvents) {
    this.#limit = limit;
    this.#choice = choice;
    this.arriving = arriving;
    this.waiting = waiting;
  }

  enter(rules: ConnectionRules): void {
    this.#limit.enter(this, rules);
  }

  bodyArrived(): void {
    this.#limit.bodyArrived(this);
  }

  /** Gives the slot back or leaves the queue. Later calls do nothing. */
  settle(outcome: CallOutcome): void {
    this.#limit.release(this);
    this.#choice.settle(outcome);
  }
}

const halfOf = (all: number): number => Math.ceil(all / 2);

export function createConcurrencyLimit(startDeadline: StartDeadline): ConcurrencyLimit {
  const wholeQueue = new Set<Slot>();
  const arrivingQueue = new Set<Slot>();
  let running = 0;
  let arrivingRunning = 0;
  let most = 0;
  let came = 0;

  const queueOf = ({ arriving }: Slot): Set<Slot> => (arriving ? arrivingQueue : wholeQueue);
  const hasRoomFor = (arriving: boolean): boolean =>
    running < most && (!arriving || arrivingRunning < halfOf(most));

  /** The one that came first of those that may have the next slot. */
  function first(): Slot | undefined {
    const [whole] = hasRoomFor(false) ? wholeQueue : [];
    const [arriving] = hasRoomFor(true) ? arrivingQueue : [];
    if (whole === undefined || arriving === undefined) return whole ?? arriving;
    return whole.number < arriving.number ? whole : arriving;
  }

  function advance(): void {
    while (wholeQueue.size > 0 || arrivingQueue.size > 0) {
      const next = first();
      if (next === undefined) return;
      unqueue(next);
      run(next);
    }
  }

  function run(slot: Slot): void {
    slot.state = 'running';
    running += 1;
    if (slot.arriving) arrivingRunning += 1;
    waitingOf(slot)?.onSlot();
  }

  function waitingOf(slot: Slot): SlotEvents | undefined {
    const { waiting } = slot;
    slot.waiting = undefined;
    return waiting;
  }

  function unqueue(slot: Slot): void {
    slot.deadline?.stop();
    queueOf(slot).delete(slot);
  }

  function release(slot: Slot): void {
    const { state } = slot;
    slot.state = 'over';
    if (state === 'waiting') unqueue(slot);
    else if (state === 'running') {
      running -= 1;
      if (slot.arriving) arrivingRunning -= 1;
      advance();
    }
  }

  return {
    enter(slot, { max, queue, waitMs }) {
      most = max;
      came += 1;
      slot.number = came;
      const { arriving } = slot;
      const queued = wholeQueue.size + arrivingQueue.size;
      if (hasRoomFor(arriving)) run(slot);
      else if (queued >= queue || (arriving && arrivingQueue.size >= halfOf(queue)))
        waitingOf(slot)?.onBusy();
      else {
        slot.state = 'waiting';
        queueOf(slot).add(slot);
        slot.deadline = startDeadline(waitMs, () => {
          release(slot);
          waitingOf(slot)?.onBusy();
        });
      }
    },
    bodyArrived(slot) {
      if (!slot.arriving) return;
      if (slot.state === 'waiting') {
        arrivingQueue.delete(slot);
        wholeQueue.add(slot);
      } else if (slot.state === 'running') arrivingRunning -= 1;
      slot.arriving = false;
      advance();
    },
    release,
    size: () => ({ running, waiting: wholeQueue.size + arrivingQueue.size }),
  };
}
