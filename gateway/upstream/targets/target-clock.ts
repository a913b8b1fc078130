// The time that targets are judged by: monotonic, with timers that never keep the process alive.
// Real in a running gateway; moved by hand in tests.

export interface TargetClock {
  /** Milliseconds since some instant in the past. */
  readonly now: () => number;
  /** Runs once after so many milliseconds, at most a day; call the result to have it not run. */
  readonly after: (ms: number, run: () => void) => () => void;
}

export const realClock: TargetClock = {
  now: () => performance.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms).unref();
    return () => clearTimeout(timer);
  },
};
