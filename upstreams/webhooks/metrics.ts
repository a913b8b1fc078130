// The metrics of the service, for Prometheus: what came in, what was tried, what became of it, what waits.
// Counted by the intake and the delivery, asked for at GET /metrics; no label is a name that a client chose.
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Attempt, EpochMs } from './delivery.ts';
import { EVENT_TYPES } from './event-types.ts';
import type { WebhookStore } from './store.ts';

export interface Metrics {
  readonly contentType: string;
  /** Asks the store how much waits. Rejects when it is away. */
  readonly text: () => Promise<string>;
  readonly countEvent: (type: string, deliveries: number | undefined) => void;
  readonly countAttempt: (attempt: Attempt) => void;
  readonly countDead: () => void;
  readonly countAlert: (level: number) => void;
  readonly countDisabled: (reason: string) => void;
}

const PREFIX = 'sundial_webhooks_';
const SECONDS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30];

export function createMetrics(store: WebhookStore, now: () => EpochMs): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const counter = <Label extends string>(name: string, help: string, labelNames: readonly Label[] = []) =>
    new Counter<Label>({ name: `${PREFIX}${name}`, help, labelNames: [...labelNames], registers });
  const events = counter('events_total', 'Events taken in, by type and whether they were known.', [
    'type',
    'known',
  ]);
  const made = counter('deliveries_total', 'Deliveries that events became.');
  const attempts = counter('attempts_total', 'Attempts to deliver, by outcome.', ['outcome']);
  const dead = counter('dead_letters_total', 'Deliveries that were given up.');
  const alerts = counter('alerts_total', 'Endpoints that reached a share of the way to being disabled.', [
    'level',
  ]);
  const disabled = counter('disabled_total', 'Subscriptions that were disabled, by reason.', ['reason']);
  const duration = new Histogram({
    name: `${PREFIX}attempt_duration_seconds`,
    help: 'How long attempts took.',
    buckets: SECONDS,
    registers,
  });
  const deliveries = new Gauge({
    name: `${PREFIX}deliveries`,
    help: 'Deliveries that are kept, by state.',
    labelNames: ['state'],
    registers,
  });
  const lag = new Gauge({
    name: `${PREFIX}lag_seconds`,
    help: 'How long the delivery that waits longest has been due.',
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
      const label = EVENT_TYPES.includes(type) ? type : 'other';
      events.inc({ type: label, known: count === undefined ? 'yes' : 'no' });
      made.inc(count ?? 0);
    },
    countAttempt: ({ outcome, durationMs }) => {
      attempts.inc({ outcome });
      duration.observe(durationMs / 1000);
    },
    countDead: () => dead.inc(),
    countAlert: (level) => alerts.inc({ level }),
    countDisabled: (reason) => disabled.inc({ reason }),
  };
}
