// The Prometheus metrics of the service; no label has a value chosen by a client.
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Attempt, Delivery, EpochMs } from './delivery.ts';
import { EVENT_TYPES, OWN_TYPES } from './event-types.ts';
import { ALERT_LEVELS } from './health.ts';
import type { WebhookStore } from './store.ts';

export interface Metrics {
  readonly contentType: string;
  /** Reads the number of waiting deliveries from the store. Rejects if it is unavailable. */
  readonly text: () => Promise<string>;
  readonly countEvent: (type: string, deliveries: number | undefined) => void;
  /** `delivery` after the attempt. */
  readonly countAttempt: (delivery: Pick<Delivery, 'type' | 'state' | 'death'>, attempt: Attempt) => void;
  readonly countAlert: (level: number) => void;
  readonly countDisabled: (reason: string) => void;
}

const PREFIX = 'sundial_webhook_';
const SECONDS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30];

/** Limits the number of series, whatever types events have. */
const EVENTS: readonly string[] = [...EVENT_TYPES, OWN_TYPES.test, 'other'];
const RESULTS = ['delivered', 'retried', 'exhausted'] as const;
const OUTCOMES: readonly Attempt['outcome'][] = ['delivered', 'failed', 'throttled', 'gone'];

export function createMetrics(store: WebhookStore, now: () => EpochMs): Metrics {
  const registry = new Registry();
  const registers = [registry];
  /** Starts all known series at 0: Prometheus does not count the first value of a series as an increase. */
  const counter = <Label extends string>(
    name: string,
    help: string,
    known: readonly Readonly<Record<Label, string>>[],
  ) => {
    const labelNames = Object.keys(known[0] ?? {}) as Label[];
    const made = new Counter<Label>({ name: `${PREFIX}${name}`, help, labelNames, registers });
    for (const labels of known) made.inc(labels, 0);
    return made;
  };
  const events = counter(
    'events_total',
    'Events received, by type and whether they were stored before.',
    EVENTS.flatMap((event) => ['yes', 'no'].map((known) => ({ event, known }))),
  );
  const made = counter('deliveries_made_total', 'Deliveries created for events.', []);
  const results = counter(
    'deliveries_total',
    'Attempts by result: delivered, retried later, or exhausted after the last attempt.',
    EVENTS.flatMap((event) => RESULTS.map((result) => ({ event, result }))),
  );
  const attempts = counter(
    'attempts_total',
    'Delivery attempts, by outcome.',
    OUTCOMES.map((outcome) => ({ outcome })),
  );
  const dead = counter('dead_letters_total', 'Deliveries that became dead letters.', []);
  const alerts = counter(
    'alerts_total',
    'Alerts about failing endpoints, by percent of the way to being disabled.',
    ALERT_LEVELS.map((level) => ({ level: String(level) })),
  );
  const disabled = counter(
    'disabled_total',
    'Disabled subscriptions, by reason.',
    ['gone', 'failing'].map((reason) => ({ reason })),
  );
  const duration = new Histogram({
    name: `${PREFIX}attempt_duration_seconds`,
    help: 'Duration of delivery attempts.',
    buckets: SECONDS,
    registers,
  });
  const deliveries = new Gauge({
    name: `${PREFIX}deliveries_kept`,
    help: 'Stored deliveries, by state.',
    labelNames: ['state'],
    registers,
  });
  const lag = new Gauge({
    name: `${PREFIX}lag_seconds`,
    help: 'Time since the oldest pending delivery became due.',
    registers,
  });

  return {
    contentType: registry.contentType,
    text: async () => {
      for (const [state, total] of Object.entries(await store.deliveries.counts())) {
        deliveries.set({ state }, total);
      }
      const due = await store.deliveries.oldestDue();
      lag.set(due === undefined ? 0 : Math.max(0, (now() - due) / 1000));
      return registry.metrics();
    },
    countEvent: (type, count) => {
      events.inc({ event: labelOf(type), known: count === undefined ? 'yes' : 'no' });
      made.inc(count ?? 0);
    },
    countAttempt: (delivery, attempt) => {
      attempts.inc({ outcome: attempt.outcome });
      duration.observe(attempt.durationMs / 1000);
      if (delivery.state === 'dead') dead.inc();
      const result = resultOf(delivery, attempt);
      if (result !== undefined) results.inc({ event: labelOf(delivery.type), result });
    },
    countAlert: (level) => alerts.inc({ level: String(level) }),
    countDisabled: (reason) => disabled.inc({ reason }),
  };
}

function labelOf(type: string): string {
  return EVENTS.includes(type) ? type : 'other';
}

/** Undefined: the receiver answered 410, or another process delivered it meanwhile. */
function resultOf(
  { state, death }: Pick<Delivery, 'state' | 'death'>,
  { outcome }: Attempt,
): (typeof RESULTS)[number] | undefined {
  if (outcome === 'delivered') return 'delivered';
  if (state === 'pending') return 'retried';
  return death === 'attempts_exhausted' ? 'exhausted' : undefined;
}
