// When a delivery that failed is tried again (WH-6).
// Asked by the delivery loop after each attempt that was not taken.

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** After the first attempt, which is made at once: ten attempts in some 75 hours. */
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

export const MOST_ATTEMPTS = DELAYS_MS.length + 1;

/** Of each delay: so that what failed together is not tried again together. */
const JITTER = 0.2;
/** What a subscriber may ask for; a day is the longest delay of our own. */
export const LONGEST_ASKED_MS = 24 * HOUR;

export interface Failed {
  /** How many attempts were made, from 1. */
  readonly attempt: number;
  /** What `Retry-After` asked for, milliseconds. */
  readonly retryAfterMs: number | undefined;
  /** From 0 up to, not including, 1. */
  readonly random: () => number;
}

/** Milliseconds until the next attempt, never sooner than was asked for; undefined after the last one: a dead letter. */
export function nextAttemptDelay({ attempt, retryAfterMs, random }: Failed): number | undefined {
  const planned = DELAYS_MS[attempt - 1];
  if (planned === undefined) return undefined;
  const spread = planned * (1 + JITTER * (2 * random() - 1));
  return Math.round(Math.max(spread, Math.min(retryAfterMs ?? 0, LONGEST_ASKED_MS)));
}
