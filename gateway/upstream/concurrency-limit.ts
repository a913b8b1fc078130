// Limits the concurrent calls to one target, and the number and the wait of queued calls.
import type { ConnectionRules } from '../plan/upstreams/connection-rules.ts';
import type { Deadline, StartDeadline } from './deadlines.ts';
import type { CallOutcome, Choice } from './targets/target-state.ts';

/** Exactly one of the two is called, once. Neither is called after `settle`. */
export interface SlotEvents {
  /** Called before `enter` returns if a slot is free. */
  readonly onSlot: () => void;
  /** The wait timed out, or the queue is full. */
  readonly onBusy: () => void;
}

export interface ConcurrencyLimit {
  /**
   * Requests with incomplete bodies get at most half of the slots and of the queue: their clients decide how long they
   * last.
   */
  readonly enter: (slot: Slot, rules: ConnectionRules) => void;
  readonly bodyArrived: (slot: Slot) => void;
  readonly release: (slot: Slot) => void;
  readonly size: () => { readonly running: number; readonly waiting: number };
}

export class Slot {
  state: 'new' | 'waiting' | 'running' | 'over' = 'new';
  number = 0;
  arriving: boolean;
  /** Cleared when called, so that a long call does not retain its caller. */
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

  /** Releases the slot or leaves the queue. Later calls do nothing. */
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

  /** The first queued call that may have the next slot. */
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
