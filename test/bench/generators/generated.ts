// Input and result of a load generator.
import type { PolicyHeaders } from '../agreement.ts';
import type { BenchRequest } from '../work.ts';

export interface LoadOrder {
  readonly scheme: 'http' | 'https';
  readonly port: number;
  readonly seconds: number;
  readonly requests: readonly BenchRequest[];
  /** Sends no request twice: the load ends early if no request is left. */
  readonly once: boolean;
  /** Octets of every response body. */
  readonly answerOctets: number;
}

/** Sends requests at a fixed rate, whether or not earlier ones have a response. Checks every response. */
export interface SteadyOrder extends LoadOrder {
  readonly perSecond: number;
  readonly headers: PolicyHeaders;
}

export interface LoadResult {
  readonly requests: number;
  readonly seconds: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
  /** Connection failures, timeouts, statuses other than 2xx, and bodies of another length. */
  readonly errors: number;
}

export interface SteadyResult extends LoadResult {
  /** Responses without a header that every response must have. */
  readonly incomplete: number;
  /** Responses without a quota header. */
  readonly withoutQuota: number;
}

/** Steps of 20 microseconds, up to two seconds. */
export function createLatencies(): {
  readonly record: (ms: number) => void;
  readonly quantile: (share: number) => number;
} {
  const stepsPerMs = 50;
  const most = 2_000 * stepsPerMs;
  const counts = new Uint32Array(most + 1);
  let total = 0;
  return {
    record(ms) {
      const step = Math.min(most, Math.floor(ms * stepsPerMs));
      counts[step] = (counts[step] ?? 0) + 1;
      total += 1;
    },
    quantile(share) {
      let seen = 0;
      for (const [step, count] of counts.entries()) {
        seen += count;
        if (seen >= total * share && seen > 0) return (step + 0.5) / stepsPerMs;
      }
      return Number.NaN;
    },
  };
}
