// The figures by which the service delivers, in one place: what a real service would let its operators choose.
// Read by webhooks.ts; tests and harnesses bring others.
import type { HealthRules } from './health.ts';
import { type Failed, nextAttemptDelay } from './schedule.ts';

export interface Tuning {
  /** Attempts at once, over all endpoints. */
  readonly concurrency: number;
  readonly perEndpoint: number;
  /** Of one owner's endpoints together: whoever has many that are slow slows down none but his own. */
  readonly perOwner: number;
  /** At one host, whoever's endpoints they are: a few slow hosts leave room for the others. */
  readonly perHost: number;
  /** Deliveries that an owner may ask for by hand in a minute: test events and replays of one delivery. */
  readonly askedPerMinute: number;
  /** For all of an attempt. */
  readonly attemptMs: number;
  /** A process that holds a delivery longer than this is taken for dead. Longer than an attempt. */
  readonly leaseMs: number;
  /** How long what is finished can be looked at and replayed; longer than the whole schedule. */
  readonly keepMs: number;
  /** What runs at the end of the process may go on for so long; the demo waits three seconds for its services. */
  readonly drainMs: number;
  readonly rules: HealthRules;
  readonly nextDelay: (failed: Failed) => number | undefined;
}

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

export const USUAL: Tuning = {
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
