// Time for upstream/: a monotonic clock, and the deadlines of all requests, which one timer keeps.

/** Monotonic, with timers that never keep the process alive. */
export interface Clock {
  /** Milliseconds since some instant in the past. */
  readonly now: () => number;
  /** Runs once after so many milliseconds, at most a day; call the result to have it not run. */
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

/** Stands in a ring with those that began before and after it; alone once it is over. */
export class Deadline {
  readonly at: number;
  readonly onPassed: () => void;
  before: Deadline = this;
  behind: Deadline = this;

  constructor(at: number, onPassed: () => void) {
    this.at = at;
    this.onPassed = onPassed;
  }

  /** Later calls do nothing. */
  stop(): void {
    this.before.behind = this.behind;
    this.behind.before = this.before;
    this.before = this;
    this.behind = this;
  }
}

/** Calls `onPassed` after `ms` milliseconds unless it is stopped: never early, and at most two milliseconds late. */
export type StartDeadline = (ms: number, onPassed: () => void) => Deadline;

export function createDeadlines({ now, after }: Clock): StartDeadline {
  /** By duration, so that each ring is in order of time. Its head never passes. */
  const rings = new Map<number, Deadline>();
  let armedFor = Number.POSITIVE_INFINITY;
  let disarm = (): void => undefined;

  /** A timer that is early, or left over by a deadline that was stopped, does no more than arm the next one. */
  function arm(at: number): void {
    if (at >= armedFor) return;
    disarm();
    armedFor = at;
    // One may have passed while another was acted on.
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
