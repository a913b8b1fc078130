// Handles secrets sealed under a lost key: reports them at start, and makes dead letters that can be replayed after a rotation.
import { type Attempt, afterAttempt, type Delivery, type EpochMs } from './delivery.ts';
import type { Secret } from './secret.ts';
import type { WebhookStore } from './store.ts';
import { type Subscription, signingSecrets } from './subscription.ts';

/** Undefined if the secret was sealed under another key. */
export type OpenSecret = (sealed: string) => Secret | undefined;

export const ADVICE =
  'restore the file webhooks-key or SUNDIAL_WEBHOOKS_KEY and restart; if the key is lost, owners POST to ' +
  '/rotate-secret and then to /replay; until then their events become dead letters';

/** Valid secrets that can be opened, the newest first; empty if they are lost. */
export function usableSecrets(
  subscription: Subscription,
  openSecret: OpenSecret,
  now: EpochMs,
): readonly Secret[] {
  return signingSecrets(subscription, now).flatMap(({ sealed }) => openSecret(sealed) ?? []);
}

/** Number of subscriptions without a usable secret. Rejects if the store is unavailable. */
export async function countLost(store: WebhookStore, openSecret: OpenSecret, now: EpochMs): Promise<number> {
  const all = await store.subscriptions.all();
  return all.filter((each) => usableSecrets(each, openSecret, now).length === 0).length;
}

export async function abandonUnsigned(
  store: WebhookStore,
  delivery: Delivery,
  now: EpochMs,
): Promise<{ readonly delivery: Delivery; readonly attempt: Attempt }> {
  const attempt: Attempt = {
    at: now,
    outcome: 'failed',
    message: 'The secret of the subscription is lost: rotate it, then replay this',
    durationMs: 0,
  };
  const after = await store.deliveries.change(delivery.id, (present) =>
    afterAttempt(present, attempt, { now, retryAt: undefined, death: 'secret_lost' }),
  );
  return { delivery: after ?? delivery, attempt };
}
