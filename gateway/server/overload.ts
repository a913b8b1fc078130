// Whether this process has more to do than it can: requests in flight counted, lateness of the event loop sampled.
import type { Refusal } from '../exchange/directive.ts';
import type { Overload } from '../plan/bounds.ts';
import type { Intake } from '../plane/port.ts';
import type { MonotonicMs } from '../policy/contract.ts';

export interface LoadGuard extends Readonly<Intake['load']> {
  readonly requests: () => number;
  /** The latest sample, milliseconds. */
  readonly lagMs: () => number;
  readonly stop: () => void;
}

/** Seconds a client that was shed is asked to wait. */
const RETRY_SECONDS = 2;

const SAMPLE_EVERY_MS = 50;
/** One late sample is a pause for garbage, or a plan being read; this many in a row are load. */
const LATE_IN_A_ROW = 3;
/** Per late sample more of the requests are refused, per timely one fewer: slow to trust, so that it does not swing. */
const MORE = 0.2;
const FEWER = 0.05;
/** Some requests always pass: how else would it show that the load has gone. */
const LARGEST_SHARE = 0.95;

export interface LoadGuardOptions {
  readonly overload: Overload | undefined;
  readonly monotonic: () => MonotonicMs;
}

/**
 * Between half the bound and the bound nothing changes; `off` only counts. The share of requests that is refused grows
 * while the loop is late, so that those that pass are answered in time.
 */
export function createLoadGuard({ overload, monotonic }: LoadGuardOptions): LoadGuard {
  const mostRequests = overload?.requests ?? Number.MAX_SAFE_INTEGER;
  const lateMs = overload?.lagMs ?? Number.POSITIVE_INFINITY;
  let requests = 0;
  let lag = 0;
  let lateInARow = 0;
  let share = 0;
  let owed = 0;
  let due = monotonic() + SAMPLE_EVERY_MS;
  const timer = setInterval(() => {
    const now = monotonic();
    lag = Math.max(0, now - due);
    due = now + SAMPLE_EVERY_MS;
    lateInARow = lag > lateMs ? lateInARow + 1 : 0;
    if (lateInARow >= LATE_IN_A_ROW) share = Math.min(LARGEST_SHARE, share + MORE);
    else if (share > 0 && lag < lateMs / 2) share = Math.max(0, share - FEWER);
  }, SAMPLE_EVERY_MS).unref();

  return {
    begin() {
      requests += 1;
      if (requests > mostRequests) return 'requests';
      if (share === 0) return undefined;
      owed += share;
      if (owed < 1) return undefined;
      owed -= 1;
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

/** `now`: the real clock, epoch milliseconds. */
export function overloaded(now: number): Refusal {
  return { reason: 'overloaded', retryAfterSeconds: RETRY_SECONDS, restoredAt: now + RETRY_SECONDS * 1000 };
}
