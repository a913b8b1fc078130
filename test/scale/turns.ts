// Measures event loop delays of this thread once a millisecond, in CPU time and in elapsed time.
import { setImmediate } from 'node:timers/promises';

export interface Turns {
  /** Milliseconds of CPU time between two samples. Other processes do not affect it. */
  readonly longestWork: number;
  /** Milliseconds between two samples, which is the delay of a request. Longer on a busy machine. */
  readonly longestWait: number;
}

/** Measures while `run` runs. */
export async function turnsDuring(run: () => Promise<unknown>): Promise<Turns> {
  await setImmediate();
  let longestWork = 0;
  let longestWait = 0;
  let last = { work: workMs(), at: performance.now() };
  const sample = () => {
    const next = { work: workMs(), at: performance.now() };
    longestWork = Math.max(longestWork, next.work - last.work);
    longestWait = Math.max(longestWait, next.at - last.at);
    last = next;
  };
  const timer = setInterval(sample, 1);
  try {
    await run();
  } finally {
    clearInterval(timer);
    sample();
  }
  return { longestWork, longestWait };
}

function workMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
