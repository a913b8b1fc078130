// The retry schedule of failed deliveries (WH-6).

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Delays after the first attempt, which is made at once: ten attempts in about 75 hours. */
const DELAYS_MS = [
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
] as const;

export const MAX_ATTEMPTS = DELAYS_MS.length + 1;

/** Random share of each delay, so that deliveries that failed together are not retried together. */
const JITTER = 0.2;
/** The longest Retry-After that is respected, as long as the longest delay. */
export const LONGEST_ASKED_MS = 24 * HOUR;

export interface Failed {
  /** Number of attempts so far, from 1. */
  readonly attempt: number;
  /** Retry-After of the response, milliseconds. */
  readonly retryAfterMs: number | undefined;
  /** From 0 up to, not including, 1. */
  readonly random: () => number;
}

/** Milliseconds until the next attempt, never less than Retry-After; undefined after the last one, which makes a dead letter. */
export function nextAttemptDelay({ attempt, retryAfterMs, random }: Failed): number | undefined {
  const planned = DELAYS_MS[attempt - 1];
  if (planned === undefined) return undefined;
  const spread = planned * (1 + JITTER * (2 * random() - 1));
  return Math.round(Math.max(spread, Math.min(retryAfterMs ?? 0, LONGEST_ASKED_MS)));
}
