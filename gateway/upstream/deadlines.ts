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
  readonly onPassed: () => void;
  before: Deadline = this;
  behind: Deadline = this;

  constructor(at: number, onPassed: () => void) {
    this.at = at;
    this.onPassed = onPassed;
  }

  stop(): void {
    this.before.behind = this.behind;
    this.behind.before = this.before;
    this.before = this;
    this.behind = this;
  }
}

/** Calls `onPassed` after `ms` milliseconds, unless stopped: never early, and at most two milliseconds late. */
export type StartDeadline = (ms: number, onPassed: () => void) => Deadline;

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
      while (head.behind.at <= time) {
        const { behind: passed } = head;
        passed.stop();
        passed.onPassed();
      }
      if (head.behind === head) rings.delete(ms);
      else earliest = Math.min(earliest, head.behind.at);
    }
    arm(earliest);
  }

  return (ms, onPassed) => {
    const head = rings.get(ms) ?? new Deadline(Number.POSITIVE_INFINITY, () => undefined);
    rings.set(ms, head);
    const deadline = new Deadline(now() + ms, onPassed);
    deadline.before = head.before;
    deadline.behind = head;
    head.before.behind = deadline;
    head.before = deadline;
    arm(deadline.at);
    return deadline;
  };
}
