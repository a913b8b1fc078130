// Long work on the event loop in short turns, so that requests are answered between them.
// Building a plan and writing down what was published go through here while the gateway serves.
import { setImmediate } from 'node:timers/promises';

/** Milliseconds: far below what a request would notice, far above what a turn of the loop costs. */
const SLICE_MS = 4;

/** What `steps` return; each step must be short, since only between two of them can others have a turn. */
export async function inSlices<T>(steps: Iterator<unknown, T>): Promise<T> {
  const turn = createTurns();
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    const others = turn();
    if (others !== undefined) await others;
  }
}

/** To be waited for between two short steps: gives others a turn where the own one has become long. */
export function createTurns(): () => Promise<void> | undefined {
  let end = performance.now() + SLICE_MS;
  const next = async (): Promise<void> => {
    await setImmediate();
    end = performance.now() + SLICE_MS;
  };
  return () => (performance.now() < end ? undefined : next());
}

/** The same at one go, for whoever has nothing else to do. */
export function atOnce<T>(steps: Iterator<unknown, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}
