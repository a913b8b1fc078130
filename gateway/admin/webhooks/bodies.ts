// Response bodies of the admin API for webhook subscriptions and deliveries.
import type { WebhookDelivery, WebhookEndpoint, WebhookOverview } from '../../api/webhook-answers.ts';
import { instantText } from '../answers.ts';

export function overviewBody({ store, deliveries, oldest_due, endpoints, endpoints_total }: WebhookOverview) {
  return {
    store,
    deliveries,
    oldestDue: instantOf(oldest_due),
    /** Counts all subscriptions. `subscriptions` lists some of them, the failing ones first. */
    total: endpoints_total,
    subscriptions: endpoints.map(subscriptionBody),
  };
}

function subscriptionBody({
  id,
  owner,
  host,
  events,
  disabled,
  health,
  deliveries,
  next_attempt,
}: WebhookEndpoint) {
  const { breaker, open_until, failures, failing_since, last_attempt } = health;
  return {
    subscription: id,
    owner,
    host,
    events,
    /** `open`: the circuit breaker blocks deliveries. `half_open`: the next attempt decides. */
    state: disabled !== undefined ? 'disabled' : breaker === 'closed' ? 'active' : breaker,
    disabled: disabled === undefined ? null : { reason: disabled.reason, at: instantOf(disabled.at) },
    openUntil: instantOf(open_until),
    failures,
    failingSince: instantOf(failing_since),
    ...deliveries,
    lastAttempt:
      last_attempt === undefined
        ? null
        : {
            at: instantOf(last_attempt.at),
            outcome: last_attempt.outcome,
            status: last_attempt.status ?? null,
          },
    nextAttempt: instantOf(next_attempt),
  };
}

export function deliveryBody({
  id,
  event,
  type,
  state,
  reason,
  replays,
  next_attempt,
  attempts,
  created,
  updated,
}: WebhookDelivery) {
  return {
    delivery: id,
    event,
    type,
    state,
    reason: reason ?? null,
    replays,
    nextAttempt: instantOf(next_attempt),
    created: instantOf(created),
    updated: instantOf(updated),
    /** The oldest first. */
    attempts: attempts.map(({ at, outcome, status, message, duration_ms }) => ({
      at: instantOf(at),
      outcome,
      status: status ?? null,
      message,
      milliseconds: duration_ms,
    })),
  };
}

function instantOf(second: number | undefined): string | null {
  return second === undefined ? null : instantText(second * 1000);
}
