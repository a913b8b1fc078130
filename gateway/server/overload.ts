// Detects overload: counts running requests and samples the delay of the event loop.
import type { Refusal } from '../exchange/directive.ts';
import type { Overload } from '../plan/bounds.ts';
import type { ListenerLimits } from '../plane/port.ts';
import type { MonotonicMs } from '../policy/contract.ts';

export interface LoadGuard extends Readonly<ListenerLimits['load']> {
  readonly requests: () => number;
  /** The latest sample in milliseconds. */
  readonly lagMs: () => number;
  readonly stop: () => void;
}

const RETRY_SECONDS = 2;

const SAMPLE_EVERY_MS = 50;
/** A single late sample is a garbage collection or a plan reload. This many in a row indicate load. */
const LATE_IN_A_ROW = 3;
/** The refused share rises fast and falls slowly, so that it does not oscillate. */
const STEP_UP = 0.2;
const STEP_DOWN = 0.05;
/** Some requests always pass, so that the end of the overload is detected. */
const LARGEST_SHARE = 0.95;

export interface LoadGuardOptions {
  readonly overload: Overload | undefined;
  readonly monotonic: () => MonotonicMs;
}

/**
 * A delay between half the limit and the limit does not change the share. With `overload: off` requests are only
 * counted.
 */
export function createLoadGuard({ overload, monotonic }: LoadGuardOptions): LoadGuard {
  const mostRequests = overload?.requests ?? Number.MAX_SAFE_INTEGER;
  const lateMs = overload?.lagMs ?? Number.POSITIVE_INFINITY;
  let requests = 0;
  let lag = 0;
  let lateInARow = 0;
  let share = 0;
  let debt = 0;
  let due = monotonic() + SAMPLE_EVERY_MS;
  const timer = setInterval(() => {
    const now = monotonic();
    lag = Math.max(0, now - due);
    due = now + SAMPLE_EVERY_MS;
    lateInARow = lag > lateMs ? lateInARow + 1 : 0;
    if (lateInARow >= LATE_IN_A_ROW) share = Math.min(LARGEST_SHARE, share + STEP_UP);
    else if (share > 0 && lag < lateMs / 2) share = Math.max(0, share - STEP_DOWN);
  }, SAMPLE_EVERY_MS).unref();

  return {
    begin() {
      requests += 1;
      if (requests > mostRequests) return 'requests';
      if (share === 0) return undefined;
      debt += share;
      if (debt < 1) return undefined;
      debt -= 1;
      return 'lag';
    },
    end: () => {
      requests -= 1;
    },
    requests: () => requests,
    lagMs: () => lag,
    stop: () => clearInterval(timer),
  };
}

export function overloaded(now: number): Refusal {
  return { reason: 'overloaded', retryAfterSeconds: RETRY_SECONDS, restoredAt: now + RETRY_SECONDS * 1000 };
}
