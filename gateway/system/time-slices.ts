// Splits long work into time slices, so that the event loop serves requests between them.
import { setImmediate } from 'node:timers/promises';

/** Milliseconds: too short to delay a request noticeably, and much longer than a turn of the event loop. */
const SLICE_MS = 4;

/** Returns the result of `steps`. Each step must be short, because the event loop runs only between two steps. */
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

/** Runs all steps without a pause, for a process that does nothing else. */
export function atOnce<T>(steps: Iterator<unknown, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}
