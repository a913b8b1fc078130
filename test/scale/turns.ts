// How long the event loop of this thread is held up, sampled once a millisecond.
// In processor time, which other processes cannot add to, and by the clock, which is what a request feels.
import { setImmediate } from 'node:timers/promises';

export interface Turns {
  /** Milliseconds of processor time between two samples. */
  readonly longestWork: number;
  /** Milliseconds by the clock between two samples; on a busy machine more than the work explains. */
  readonly longestWait: number;
}

/** Of the turns while `run` is under way. */
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
