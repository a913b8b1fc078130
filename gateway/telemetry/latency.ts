// A histogram of durations in one typed array, with the last trace of each bucket as its exemplar.
import type { EpochMs } from '../policy/contract.ts';

/** Upper bounds in seconds. One more bucket counts longer durations. */
export const LATENCY_BOUNDS: readonly number[] = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
];

/** A recorded trace as an example of a bucket (OpenMetrics: exemplar). */
export interface Exemplar {
  readonly traceId: string;
  readonly seconds: number;
  readonly at: EpochMs;
}

export interface Latency {
  readonly observe: (milliseconds: number, traced?: Pick<Exemplar, 'traceId' | 'at'>) => void;
  /** Counts up to each bound. The last is the count of all observations. */
  readonly cumulative: () => readonly number[];
  readonly sumSeconds: () => number;
  readonly exemplars: readonly (Exemplar | undefined)[];
}

export function createLatency(): Latency {
  const buckets = new Float64Array(LATENCY_BOUNDS.length + 1);
  const exemplars: (Exemplar | undefined)[] = [];
  let sum = 0;
  return {
    observe: (milliseconds, traced) => {
      const seconds = milliseconds / 1000;
      let bucket = 0;
      while (seconds > (LATENCY_BOUNDS[bucket] ?? Number.POSITIVE_INFINITY)) bucket += 1;
      buckets[bucket] = (buckets[bucket] ?? 0) + 1;
      sum += seconds;
      if (traced !== undefined) exemplars[bucket] = { traceId: traced.traceId, seconds, at: traced.at };
    },
    cumulative: () => {
      let total = 0;
      return Array.from(buckets, (count) => {
        total += count;
        return total;
      });
    },
    sumSeconds: () => sum,
    exemplars,
  };
}
