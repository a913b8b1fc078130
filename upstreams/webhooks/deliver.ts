// Handles one due delivery: admission, the attempt, and the change of delivery and endpoint after it.
import type { AttemptOutcome, OutgoingDelivery } from './attempt.ts';
import { type Attempt, abandoned, afterAttempt, type Delivery, type EpochMs, postponed } from './delivery.ts';
import type { EndpointSlots } from './endpoint-slots.ts';
import { admit, attempted, disableProgress, failed, type HealthRules, succeeded } from './health.ts';
import { abandonUnsigned, type OpenSecret, usableSecrets } from './lost-secrets.ts';
import { retryWhileUnavailable } from './retry-while-unavailable.ts';
import type { Failed } from './schedule.ts';
import { signDelivery } from './signature.ts';
import type { Handle, Next, WebhookStore } from './store.ts';
import { disabledFor, type Subscription } from './subscription.ts';
import type { Alerts } from './warnings.ts';

export interface DeliverParts {
  readonly store: WebhookStore;
  /** Rejects only if the signal is aborted. */
  readonly attempt: (delivery: OutgoingDelivery, signal: AbortSignal) => Promise<AttemptOutcome>;
  /** WH-6: milliseconds until the next attempt; undefined: there is none. */
  readonly nextDelay: (failed: Failed) => number | undefined;
  readonly openSecret: OpenSecret;
  readonly slots: EndpointSlots;
  readonly rules: HealthRules;
  readonly alerts: Alerts;
  readonly observe: (delivery: Delivery, attempt: Attempt) => void;
  /** Aborted when the service ends. Running attempts are given up, and their deliveries are due at the next start. */
  readonly ending: AbortSignal;
  readonly now: () => EpochMs;
  /** From 0 to 1. */
  readonly random: () => number;
}

const FINISHED: Next = { kind: 'finished' };
/** Random share of the pause, so that deliveries that wait for the same endpoint do not return at once. */
const SPREAD = 0.5;

/** WH-3, WH-5, WH-6. Rejects if the store is unavailable; the delivery is then due again. */
export function createDeliver(parts: DeliverParts): Handle {
  const { store, slots, now } = parts;
  const later = async (delivery: Delivery, until: EpochMs): Promise<Next> => {
    await store.deliveries.change(delivery.id, (present) => postponed(present, until));
    return { kind: 'later', at: until };
  };
  return async (id) => {
    const delivery = await store.deliveries.read(id);
    if (delivery === undefined || delivery.state !== 'pending') return FINISHED;
    if (delivery.nextAt > now()) return { kind: 'later', at: delivery.nextAt };
    const subscription = await store.subscriptions.read(delivery.subscription);
    if (subscription === undefined || subscription.disabled !== undefined) {
      await store.deliveries.change(id, (present) => abandoned(present, 'subscription_disabled', now()));
      return FINISHED;
    }
    const slot = slots.take(subscription, now());
    if (slot.kind === 'full') return later(delivery, slot.until);
    const began = now();
    try {
      const until = await admission(parts, subscription.id);
      if (until !== undefined) return await later(delivery, until);
      return await tryOnce(parts, delivery, subscription);
    } finally {
      slot.release(now() - began);
    }
  };
}

/** Undefined: go ahead. Otherwise when to try again. For healthy endpoints nothing is written. */
async function admission(
  { store, rules, now, random }: DeliverParts,
  subscription: string,
): Promise<EpochMs | undefined> {
  const health = await store.health.read(subscription);
  const admitted = admit(health, now(), rules);
  if (admitted.kind === 'go' && admitted.next === health) return undefined;
  // Half-open: of concurrent deliveries, the one that writes first is the probe.
  const seen = { isProbe: false };
  const { openUntil = now() } = await store.health.change(subscription, (present) => {
    const again = admit(present, now(), rules);
    seen.isProbe = again.kind === 'go';
    return again.kind === 'go' ? again.next : present;
  });
  return seen.isProbe ? undefined : Math.ceil(openUntil + random() * SPREAD * rules.openMs);
}

async function tryOnce(parts: DeliverParts, delivery: Delivery, subscription: Subscription): Promise<Next> {
  const { store, now, ending } = parts;
  const event = await store.event(delivery.event);
  if (event === undefined) {
    await store.deliveries.change(delivery.id, (present) => abandoned(present, 'event_forgotten', now()));
    return FINISHED;
  }
  const secrets = usableSecrets(subscription, parts.openSecret, now());
  if (secrets.length === 0) {
    const unsigned = await abandonUnsigned(store, delivery, now());
    parts.observe(unsigned.delivery, unsigned.attempt);
    return FINISHED;
  }
  const body = Buffer.from(event.body);
  const headers = signDelivery({
    id: event.id,
    timestamp: Math.floor(now() / 1000),
    body,
    secrets,
    form: subscription.signature,
  });
  let outcome: AttemptOutcome;
  try {
    outcome = await parts.attempt({ url: subscription.url, headers, body }, ending);
  } catch (error) {
    // The outcome is unknown, so the delivery stays due.
    if (ending.aborted) return { kind: 'later', at: delivery.nextAt };
    throw error;
  }
  return settle(parts, delivery, subscription, outcome);
}

async function settle(
  parts: DeliverParts,
  delivery: Delivery,
  subscription: Subscription,
  outcome: AttemptOutcome,
): Promise<Next> {
  const { store, now, random } = parts;
  const at = now();
  const attempt: Attempt = {
    at,
    outcome: outcome.kind,
    ...(outcome.status !== undefined && { status: outcome.status }),
    message: outcome.message,
    durationMs: Math.round(outcome.durationMs),
  };
  const retryAfterMs = outcome.kind === 'throttled' ? outcome.retryAfterMs : undefined;
  const delayMs =
    outcome.kind === 'gone'
      ? undefined
      : parts.nextDelay({ attempt: delivery.tries + 1, retryAfterMs, random });
  // Written with retries: a forgotten attempt would be made again.
  const settled = await retryWhileUnavailable(
    () =>
      store.deliveries.change(delivery.id, (present) =>
        afterAttempt(present, attempt, {
          now: at,
          retryAt: delayMs === undefined ? undefined : Math.ceil(at + delayMs),
          death: outcome.kind === 'gone' ? 'subscription_disabled' : 'attempts_exhausted',
        }),
      ),
    parts.ending,
  );
  parts.observe(settled ?? delivery, attempt);
  await judgeEndpoint(parts, subscription, outcome, attempt);
  return settled?.state === 'pending' ? { kind: 'later', at: settled.nextAt } : FINISHED;
}

/** WH-5: 410 disables the endpoint at once. WH-6: so does failing for too long, after warnings to the owner. */
async function judgeEndpoint(
  { store, rules, alerts, now }: DeliverParts,
  subscription: Subscription,
  outcome: AttemptOutcome,
  attempt: Attempt,
): Promise<void> {
  const { id } = subscription;
  switch (outcome.kind) {
    case 'delivered':
      await store.health.change(id, (before) => attempted(before, succeeded(before, now()), attempt));
      return;
    case 'gone':
      await store.health.change(id, (before) => attempted(before, { ...before }, attempt));
      await disable('gone');
      return;
    case 'failed':
    case 'throttled': {
      const retryAfterMs = outcome.kind === 'throttled' ? outcome.retryAfterMs : undefined;
      const health = await store.health.change(id, (before) =>
        attempted(before, failed(before, now(), rules, retryAfterMs), attempt),
      );
      await alerts.ofFailing(subscription, health);
      if (disableProgress(health, rules) === 100) await disable('failing');
      return;
    }
    default: {
      const never: never = outcome;
      throw new Error(`unhandled outcome ${String(never)}`);
    }
  }

  async function disable(reason: 'gone' | 'failing'): Promise<void> {
    const after = await store.subscriptions.change(id, (present) => disabledFor(present, reason, now()));
    if (after?.disabled !== undefined) await alerts.ofDisabled(after, after.disabled);
  }
}
