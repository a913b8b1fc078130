// What a load generator is asked for and what it reports, whichever program it is.
import type { PolicyHeaders } from '../agreement.ts';
import type { BenchRequest } from '../work.ts';

export interface LoadOrder {
  readonly scheme: 'http' | 'https';
  readonly port: number;
  readonly seconds: number;
  readonly requests: readonly BenchRequest[];
  /** No request is sent twice: the load ends early when none is left. */
  readonly once: boolean;
  /** Octets of the body of every answer. */
  readonly answerOctets: number;
}

/** Requests per second that are sent whether or not earlier ones are answered; every answer is looked at. */
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
  /** Connection failures, time-outs, statuses other than 2xx and bodies of another length. */
  readonly errors: number;
}

export interface SteadyResult extends LoadResult {
  /** Answers that lacked a header which belongs on every one. */
  readonly incomplete: number;
  /** Answers that lacked a quota header. */
  readonly withoutQuota: number;
}

/** Latencies in steps of 20 microseconds up to two seconds. */
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
