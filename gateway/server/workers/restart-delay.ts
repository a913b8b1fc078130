// Delays and timeouts of the worker pool: when an ended worker is replaced, and how long a response may take.
import type { MonotonicMs } from '../../policy/contract.ts';

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 10_000;
/** Longer than the longest pause plus a start, so that a restart loop does not reset the delay. */
const CALM_MS = 30_000;

/** The result returns the milliseconds to wait before the replacement. Call it at each end of a worker. */
export function createRestartDelay(now: () => MonotonicMs): () => number {
  let ends = 0;
  let last = Number.NEGATIVE_INFINITY;
  return () => {
    const at = now();
    ends = at - last > CALM_MS ? 0 : ends + 1;
    last = at;
    return ends === 0 ? 0 : Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (ends - 1));
  };
}

/** Resolves after `ms` milliseconds, or when `until` is aborted. */
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

export class TimedOut extends Error {}

/** Rejects with `TimedOut` after `ms`: a process may be stopped without having ended. The call may still take effect. */
export function withTimeout<T>(ms: number, answer: Promise<T>): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const timer = setTimeout(() => reject(new TimedOut(`no answer within ${ms} ms`)), ms);
  answer.then(resolve, reject).finally(() => clearTimeout(timer));
  return promise;
}
