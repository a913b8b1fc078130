// Tells the owner of a failing endpoint, and the operator, how near it is to being disabled, and that it was (WH-6).
// Called by deliver.ts after a failed attempt; the owner is told by events to its other endpoints.
import { createHash } from 'node:crypto';
import { type EpochMs, newDelivery } from './delivery.ts';
import { OWN_TYPES } from './event-types.ts';
import { dueAlert, type Health, type HealthRules } from './health.ts';
import type { WebhookStore } from './store.ts';
import type { Disabled, Subscription } from './subscription.ts';
import { makeEvent } from './written-event.ts';

export interface Warn {
  /** Once for each level that is reached. */
  readonly ofFailing: (subscription: Subscription, health: Health) => Promise<void>;
  readonly ofDisabled: (subscription: Subscription, disabled: Disabled) => Promise<void>;
}

export interface WarnParts {
  readonly store: WebhookStore;
  readonly rules: HealthRules;
  readonly now: () => EpochMs;
  /** One line for the operator and his metrics: no secret, and no URL, whose query may hold one. */
  readonly tell: (
    what: 'webhook_failing' | 'webhook_disabled',
    details: Readonly<Record<string, unknown>>,
  ) => void;
}

export function createWarn({ store, rules, now, tell }: WarnParts): Warn {
  /** The id is made of what it tells: told twice, after a crash, it is kept once. */
  const announce = async (
    type: string,
    { owner, id }: Subscription,
    told: object,
    once: string,
  ): Promise<void> => {
    const digest = createHash('sha256').update(`${type}\n${id}\n${once}`).digest('base64url').slice(0, 22);
    const event = makeEvent({ id: `evt_${digest}`, type, data: { subscription: id, ...told } }, now());
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
      const told = { level, failures: health.failures, failing_since: since };
      tell('webhook_failing', { subscription: subscription.id, owner: subscription.owner, ...told });
      await announce(OWN_TYPES.failing, subscription, told, `${since} ${level}`);
      // Marked after it was told: who is killed between the two tells it again, under the same id.
      await store.health.change(subscription.id, (present) =>
        present.alerted < level && present.failures > 0 ? { ...present, alerted: level } : present,
      );
    },
    ofDisabled: async (subscription, { reason, at }) => {
      tell('webhook_disabled', { subscription: subscription.id, owner: subscription.owner, reason });
      const told = { reason, at: Math.floor(at / 1000) };
      await announce(OWN_TYPES.disabled, subscription, told, String(at));
    },
  };
}
