// Splits long work on the event loop into time slices, so that requests are answered between them.
import { setImmediate } from 'node:timers/promises';

/** Milliseconds: far below what a request would notice, far above what a turn of the loop costs. */
const SLICE_MS = 4;

/** Returns the result of `steps`. Each step must be short, since the event loop is only released between two steps. */
export async function inSlices<T>(steps: Iterator<unknown, T>): Promise<T> {
  const nextSlice = createSlices();
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    const others = nextSlice();
    if (others !== undefined) await others;
  }
}

/** Await the result between two short steps: it releases the event loop if the current slice is used up. */
export function createSlices(): () => Promise<void> | undefined {
  let end = performance.now() + SLICE_MS;
  const next = async (): Promise<void> => {
    await setImmediate();
    end = performance.now() + SLICE_MS;
  };
  return () => (performance.now() < end ? undefined : next());
}

/** Runs `steps` without a pause, where nothing else waits for the event loop. */
export function atOnce<T>(steps: Iterator<unknown, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}
