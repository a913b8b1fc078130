// Limits and times of the webhooks service, with their defaults; tests set others.
import type { HealthRules } from './health.ts';
import { type Failed, nextAttemptDelay } from './schedule.ts';

export interface Tuning {
  readonly concurrency: number;
  readonly perEndpoint: number;
  /** Over all endpoints of one owner, so that slow endpoints delay only their owner. */
  readonly perOwner: number;
  /** At one host, over all owners, so that a few slow hosts do not delay others. */
  readonly perHost: number;
  /** Test events and single replays that an owner may request in a minute. */
  readonly askedPerMinute: number;
  readonly attemptMs: number;
  /** A process that holds a delivery longer than this counts as dead. Longer than an attempt. */
  readonly leaseMs: number;
  /** How long finished deliveries are kept for reading and replay; longer than the retry schedule. */
  readonly keepMs: number;
  /** How long running attempts may take at the end of the process; the demo waits three seconds for its services. */
  readonly drainMs: number;
  readonly rules: HealthRules;
  readonly nextDelay: (failed: Failed) => number | undefined;
}

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

export const DEFAULT_TUNING: Tuning = {
  concurrency: 128,
  perEndpoint: 8,
  perOwner: 32,
  perHost: 16,
  askedPerMinute: 30,
  attemptMs: 15_000,
  leaseMs: 30_000,
  keepMs: 14 * DAY,
  drainMs: 2_000,
  rules: {
    openAfter: 10,
    openMs: MINUTE,
    probeMs: 20_000,
    disableAfterMs: 5 * DAY,
    disableAfterFailures: 20,
  },
  nextDelay: nextAttemptDelay,
};
