// How well an endpoint takes deliveries: its breaker, how long it has been failing, which alerts were given.
// Asked before an attempt and told after it by deliver.ts; pure, the store keeps it.
import type { Attempt, EpochMs } from './delivery.ts';
import { LONGEST_ASKED_MS } from './schedule.ts';

export interface Health {
  /** Failed attempts since the last one that succeeded. */
  readonly failures: number;
  readonly failingSince?: EpochMs;
  /** No attempt before then; then one, and the next after it has told. */
  readonly openUntil?: EpochMs;
  /** The highest share of the way to being disabled, in percent, that was told; 0 for none. */
  readonly alerted: number;
  readonly lastSuccess?: EpochMs;
  readonly lastFailure?: EpochMs;
  /** Of those that succeed one in a minute is written down. */
  readonly lastAttempt?: LastAttempt;
}

export type LastAttempt = Pick<Attempt, 'at' | 'outcome' | 'status'>;

export interface HealthRules {
  /** Failed attempts in a row after which the endpoint rests. */
  readonly openAfter: number;
  readonly openMs: number;
  /** How long an attempt may take at most: after that a probe that told nothing counts as lost. */
  readonly probeMs: number;
  /** Disabled after failing that long without one success… */
  readonly disableAfterMs: number;
  /** …and at least that often: two failures far apart say little. */
  readonly disableAfterFailures: number;
}

export const WELL: Health = { failures: 0, alerted: 0 };

/** WH-6: shares of the way to being disabled at which its owner is told. */
export const ALERT_LEVELS = [50, 70, 90, 100] as const;

export type Admission =
  /** `next`: as it is to be kept before the attempt; the same object when nothing changes. */
  | { readonly kind: 'go'; readonly next: Health }
  /** `probing`: another attempt is under way that will tell. */
  | { readonly kind: 'wait'; readonly until: EpochMs };

/** Half-open: the first to come after the rest is the probe, and pushes the end of the rest away from the others. */
export function admit(health: Health, now: EpochMs, rules: HealthRules): Admission {
  const { openUntil } = health;
  if (openUntil === undefined) return { kind: 'go', next: health };
  if (now < openUntil) return { kind: 'wait', until: openUntil };
  return { kind: 'go', next: { ...health, openUntil: now + rules.probeMs } };
}

export function succeeded(health: Health, now: EpochMs): Health {
  // A healthy endpoint's record is not written at each delivery; a minute is near enough for "last success".
  const isFresh = health.lastSuccess !== undefined && now - health.lastSuccess < 60_000;
  if (health.failures === 0 && health.openUntil === undefined && isFresh) return health;
  return {
    ...WELL,
    lastSuccess: now,
    ...(health.lastFailure !== undefined && { lastFailure: health.lastFailure }),
  };
}

/** `retryAfterMs`: how long the receiver asked to be left alone; longer than a day nobody is. */
export function failed(
  health: Health,
  now: EpochMs,
  rules: HealthRules,
  retryAfterMs: number | undefined,
): Health {
  const failures = health.failures + 1;
  const asked = Math.min(retryAfterMs ?? 0, LONGEST_ASKED_MS);
  const rest = Math.max(failures >= rules.openAfter ? rules.openMs : 0, asked);
  const { openUntil: _, ...others } = health;
  return {
    ...others,
    failures,
    failingSince: health.failingSince ?? now,
    lastFailure: now,
    ...(rest > 0 && { openUntil: now + rest }),
  };
}

/** After `attempt`, which made it what it is; what is not to be written stays the same object. */
export function attempted(before: Health, after: Health, { at, outcome, status }: LastAttempt): Health {
  if (after === before) return before;
  return { ...after, lastAttempt: { at, outcome, ...(status !== undefined && { status }) } };
}

/** Percent of the way to being disabled: the lesser of the share of the time and of the failures. 100: disable it. */
export function wayToDisabled(health: Health, rules: HealthRules): number {
  if (health.failingSince === undefined || health.lastFailure === undefined) return 0;
  const ofTime = (health.lastFailure - health.failingSince) / rules.disableAfterMs;
  const ofFailures = health.failures / rules.disableAfterFailures;
  return Math.min(100, Math.floor(100 * Math.min(ofTime, ofFailures)));
}

/** The highest level that is reached and not told yet; one that was passed over is not made up for. */
export function dueAlert(health: Health, rules: HealthRules): number | undefined {
  const way = wayToDisabled(health, rules);
  const reached = ALERT_LEVELS.findLast((level) => level <= way);
  return reached !== undefined && reached > health.alerted ? reached : undefined;
}

export type BreakerState = 'closed' | 'open' | 'half_open';

export function breakerState({ openUntil }: Health, now: EpochMs): BreakerState {
  if (openUntil === undefined) return 'closed';
  return now < openUntil ? 'open' : 'half_open';
}
