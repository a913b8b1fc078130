// A monotonic clock, and the deadlines of all requests on a single timer.

/** Its timers do not keep the process alive. */
export interface Clock {
  /** In milliseconds. */
  readonly now: () => number;
  /** Runs once after at most a day. The result cancels it. */
  readonly after: (ms: number, run: () => void) => () => void;
}

export const processClock: Clock = {
  now: () => performance.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms).unref();
    return () => clearTimeout(timer);
  },
};

const DAY_MS = 86_400_000;

/** A node of a ring of deadlines in order of start. After its end it links only itself. */
export class Deadline {
  readonly at: number;
  readonly onExpired: () => void;
  previous: Deadline = this;
  next: Deadline = this;

  constructor(at: number, onExpired: () => void) {
    this.at = at;
    this.onExpired = onExpired;
  }

  stop(): void {
    this.previous.next = this.next;
    this.next.previous = this.previous;
    this.previous = this;
    this.next = this;
  }
}

/** Calls `onExpired` after `ms` milliseconds, unless stopped: never early, and at most two milliseconds late. */
export type StartDeadline = (ms: number, onExpired: () => void) => Deadline;

export function createDeadlines({ now, after }: Clock): StartDeadline {
  /** By duration, so that each ring is sorted by time. The head of a ring never expires. */
  const rings = new Map<number, Deadline>();
  let armedFor = Number.POSITIVE_INFINITY;
  let disarm = (): void => undefined;

  /** A timer that fires early, or for a stopped deadline, only arms the next one. */
  function arm(at: number): void {
    if (at >= armedFor) return;
    disarm();
    armedFor = at;
    // A deadline may expire while another is handled.
    disarm = after(Math.min(Math.max(0, Math.ceil(at - now())), DAY_MS), fire);
  }

  function fire(): void {
    armedFor = Number.POSITIVE_INFINITY;
    const time = now();
    let earliest = Number.POSITIVE_INFINITY;
    for (const [ms, head] of rings) {
      while (head.next.at <= time) {
        const { next: expired } = head;
        expired.stop();
        expired.onExpired();
      }
      if (head.next === head) rings.delete(ms);
      else earliest = Math.min(earliest, head.next.at);
    }
    arm(earliest);
  }

  return (ms, onExpired) => {
    const head = rings.get(ms) ?? new Deadline(Number.POSITIVE_INFINITY, () => undefined);
    rings.set(ms, head);
    const deadline = new Deadline(now() + ms, onExpired);
    deadline.previous = head.previous;
    deadline.next = head;
    head.previous.next = deadline;
    head.previous = deadline;
    arm(deadline.at);
    return deadline;
  };
}
