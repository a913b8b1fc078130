// How soon a worker that ended is replaced: the first at once, those of a crash loop ever later.
// Asked by crew.ts; a gateway whose workers die at once starts at most one every ten seconds in the end.
import type { MonotonicMs } from '../../policy/contract.ts';

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 10_000;
/** Longer than the longest pause and a start, so that a loop never looks like peace. */
const CALM_MS = 30_000;

/** Tells of each end how many milliseconds to wait. `now` is monotonic milliseconds. */
export function createPace(now: () => MonotonicMs): () => number {
  let ends = 0;
  let last = Number.NEGATIVE_INFINITY;
  return () => {
    const at = now();
    ends = at - last > CALM_MS ? 0 : ends + 1;
    last = at;
    return ends === 0 ? 0 : Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (ends - 1));
  };
}

/** Resolves after `ms` milliseconds, or early when `until` says so. */
export function pause(ms: number, until: AbortSignal): Promise<void> {
  if (until.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      until.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    until.addEventListener('abort', end);
  });
}
