// The health of an endpoint: circuit breaker, time of failing, and alerts sent.
import type { Attempt, EpochMs } from './delivery.ts';
import { LONGEST_ASKED_MS } from './schedule.ts';

export interface Health {
  /** Failed attempts since the last success. */
  readonly failures: number;
  readonly failingSince?: EpochMs;
  /** No attempt before then. After that one probe, until its result is known. */
  readonly openUntil?: EpochMs;
  /** The highest alert level sent, in percent of the way to being disabled; 0 for none. */
  readonly alerted: number;
  readonly lastSuccess?: EpochMs;
  readonly lastFailure?: EpochMs;
  /** Of successful attempts, one a minute is written. */
  readonly lastAttempt?: LastAttempt;
}

export type LastAttempt = Pick<Attempt, 'at' | 'outcome' | 'status'>;

export interface HealthRules {
  /** Failed attempts in a row after which the breaker opens. */
  readonly openAfter: number;
  readonly openMs: number;
  /** Longest duration of an attempt. A probe without a result after that counts as lost. */
  readonly probeMs: number;
  /** An endpoint is disabled after failing for that long without a success … */
  readonly disableAfterMs: number;
  /** … and at least that often: two failures far apart prove little. */
  readonly disableAfterFailures: number;
}

export const HEALTHY: Health = { failures: 0, alerted: 0 };

/** WH-6: the owner is alerted at these shares of the way to being disabled. */
export const ALERT_LEVELS = [50, 70, 90, 100] as const;

export type Admission =
  /** `next`: the health to store before the attempt; the same object if nothing changes. */
  | { readonly kind: 'go'; readonly next: Health }
  /** A probe is running. */
  | { readonly kind: 'wait'; readonly until: EpochMs };

/** Half-open: the first delivery after the pause is the probe, and postpones the others until its result is known. */
export function admit(health: Health, now: EpochMs, rules: HealthRules): Admission {
  const { openUntil } = health;
  if (openUntil === undefined) return { kind: 'go', next: health };
  if (now < openUntil) return { kind: 'wait', until: openUntil };
  return { kind: 'go', next: { ...health, openUntil: now + rules.probeMs } };
}

export function succeeded(health: Health, now: EpochMs): Health {
  // A healthy endpoint is not written at each delivery; a minute is precise enough for "last success".
  const isFresh = health.lastSuccess !== undefined && now - health.lastSuccess < 60_000;
  if (health.failures === 0 && health.openUntil === undefined && isFresh) return health;
  return {
    ...HEALTHY,
    lastSuccess: now,
    ...(health.lastFailure !== undefined && { lastFailure: health.lastFailure }),
  };
}

/** `retryAfterMs`: the receiver's Retry-After, limited to a day. */
export function failed(
  health: Health,
  now: EpochMs,
  rules: HealthRules,
  retryAfterMs: number | undefined,
): Health {
  const failures = health.failures + 1;
  const requestedMs = Math.min(retryAfterMs ?? 0, LONGEST_ASKED_MS);
  const rest = Math.max(failures >= rules.openAfter ? rules.openMs : 0, requestedMs);
  const { openUntil: _, ...others } = health;
  return {
    ...others,
    failures,
    failingSince: health.failingSince ?? now,
    lastFailure: now,
    ...(rest > 0 && { openUntil: now + rest }),
  };
}

/** Adds the attempt to a changed health; an unchanged one stays the same object and is not written. */
export function attempted(before: Health, after: Health, { at, outcome, status }: LastAttempt): Health {
  if (after === before) return before;
  return { ...after, lastAttempt: { at, outcome, ...(status !== undefined && { status }) } };
}

/** Percent of the way to being disabled: the lesser of the shares of time and of failures. At 100 the endpoint is disabled. */
export function disableProgress(health: Health, rules: HealthRules): number {
  if (health.failingSince === undefined || health.lastFailure === undefined) return 0;
  const ofTime = (health.lastFailure - health.failingSince) / rules.disableAfterMs;
  const ofFailures = health.failures / rules.disableAfterFailures;
  return Math.min(100, Math.floor(100 * Math.min(ofTime, ofFailures)));
}

/** The highest level reached and not yet alerted; skipped levels are not sent later. */
export function dueAlert(health: Health, rules: HealthRules): number | undefined {
  const way = disableProgress(health, rules);
  const reached = ALERT_LEVELS.findLast((level) => level <= way);
  return reached !== undefined && reached > health.alerted ? reached : undefined;
}

export type BreakerState = 'closed' | 'open' | 'half_open';

export function breakerState({ openUntil }: Health, now: EpochMs): BreakerState {
  if (openUntil === undefined) return 'closed';
  return now < openUntil ? 'open' : 'half_open';
}
