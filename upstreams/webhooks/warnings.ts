// Alerts owner and operator of a failing endpoint before it is disabled, and when it is (WH-6); owners get events at their other
// endpoints.
import { createHash } from 'node:crypto';
import { type EpochMs, newDelivery } from './delivery.ts';
import { OWN_TYPES } from './event-types.ts';
import { dueAlert, type Health, type HealthRules } from './health.ts';
import { makeEvent } from './read-event.ts';
import type { WebhookStore } from './store.ts';
import type { Disabled, Subscription } from './subscription.ts';

export interface Alerts {
  /** Once per level that is reached. */
  readonly ofFailing: (subscription: Subscription, health: Health) => Promise<void>;
  readonly ofDisabled: (subscription: Subscription, disabled: Disabled) => Promise<void>;
}

export interface AlertParts {
  readonly store: WebhookStore;
  readonly rules: HealthRules;
  readonly now: () => EpochMs;
  /** Writes one line for the operator and counts metrics: no secret, and no URL, whose query may hold one. */
  readonly report: (
    what: 'webhook_failing' | 'webhook_disabled',
    details: Readonly<Record<string, unknown>>,
  ) => void;
}

export function createAlerts({ store, rules, now, report }: AlertParts): Alerts {
  /** The id is derived from the content, so an event sent again after a crash is stored once. */
  const announce = async (
    type: string,
    { owner, id }: Subscription,
    details: object,
    once: string,
  ): Promise<void> => {
    const digest = createHash('sha256').update(`${type}\n${id}\n${once}`).digest('base64url').slice(0, 22);
    const event = makeEvent({ id: `evt_${digest}`, type, data: { subscription: id, ...details } }, now());
    const listeners = (await store.subscriptions.wanting(type)).filter(
      (each) => each.owner === owner && each.id !== id,
    );
    await store.keep(
      event,
      listeners.map((each) => newDelivery(event, each.id, now())),
    );
  };

  return {
    ofFailing: async (subscription, health) => {
      const level = dueAlert(health, rules);
      if (level === undefined) return;
      const since = Math.floor((health.failingSince ?? now()) / 1000);
      const details = { level, failures: health.failures, failing_since: since };
      report('webhook_failing', { subscription: subscription.id, owner: subscription.owner, ...details });
      await announce(OWN_TYPES.failing, subscription, details, `${since} ${level}`);
      // Marked after sending. A process killed in between sends it again, under the same id.
      await store.health.change(subscription.id, (present) =>
        present.alerted < level && present.failures > 0 ? { ...present, alerted: level } : present,
      );
    },
    ofDisabled: async (subscription, { reason, at }) => {
      report('webhook_disabled', { subscription: subscription.id, owner: subscription.owner, reason });
      const details = { reason, at: Math.floor(at / 1000) };
      await announce(OWN_TYPES.disabled, subscription, details, String(at));
    },
  };
}
