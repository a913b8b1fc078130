// One event on its way to one subscription: pending until it is delivered or dead, with a log of its attempts.
// Made by the fan-out, moved on by deliver.ts, shown by the API; pure, the store keeps it.
import { createHash } from 'node:crypto';

/** Milliseconds since 1970. */
export type EpochMs = number;

export interface KeptEvent {
  readonly id: string;
  readonly type: string;
  /** The very text that is signed and sent (WH-3). */
  readonly body: string;
  readonly kept: EpochMs;
}

export const DELIVERY_STATES = ['pending', 'delivered', 'dead'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

export interface Attempt {
  readonly at: EpochMs;
  readonly outcome: 'delivered' | 'failed' | 'throttled' | 'gone';
  /** Of the receiver's answer; absent when there was none. */
  readonly status?: number;
  /** Says nothing of the network behind the service. */
  readonly message: string;
  readonly durationMs: number;
}

/** Why it is dead: every attempt failed, the subscription was disabled before it arrived, or nobody can sign it. */
export type DeathReason = 'attempts_exhausted' | 'subscription_disabled' | 'event_forgotten' | 'secret_lost';

export interface Delivery {
  readonly id: string;
  readonly subscription: string;
  readonly event: string;
  readonly type: string;
  readonly state: DeliveryState;
  /** How often it was replayed. */
  readonly round: number;
  /** Attempts of this round. */
  readonly tries: number;
  /** Not before then; of no meaning once it is no longer pending. */
  readonly nextAt: EpochMs;
  readonly created: EpochMs;
  readonly updated: EpochMs;
  readonly death?: DeathReason;
  /** The last ones of all rounds, the oldest first. */
  readonly attempts: readonly Attempt[];
}

const MOST_ATTEMPTS_KEPT = 20;

/** The same event and subscription make the same delivery, so that a fan-out that is run again adds nothing. */
export function newDelivery(
  event: Pick<KeptEvent, 'id' | 'type'>,
  subscription: string,
  now: EpochMs,
): Delivery {
  const digest = createHash('sha256').update(`${event.id}\n${subscription}`).digest('base64url').slice(0, 22);
  return {
    id: `dlv_${digest}`,
    subscription,
    event: event.id,
    type: event.type,
    state: 'pending',
    round: 0,
    tries: 0,
    nextAt: now,
    created: now,
    updated: now,
    attempts: [],
  };
}

/** What follows an attempt: delivered, pending until `retryAt`, or dead where there is no further attempt. */
export function afterAttempt(
  delivery: Delivery,
  attempt: Attempt,
  { now, retryAt, death }: { now: EpochMs; retryAt: EpochMs | undefined; death: DeathReason },
): Delivery {
  // Whoever tried it as well, because the first was slow to say so, takes nothing back and revives nothing.
  if (delivery.state === 'delivered' || (delivery.state === 'dead' && attempt.outcome !== 'delivered')) {
    return delivery;
  }
  const { death: _, ...rest } = delivery;
  const tried: Delivery = {
    ...rest,
    tries: delivery.tries + 1,
    updated: now,
    attempts: [...delivery.attempts, attempt].slice(-MOST_ATTEMPTS_KEPT),
  };
  if (attempt.outcome === 'delivered') return { ...tried, state: 'delivered' };
  if (retryAt === undefined) return { ...tried, state: 'dead', death };
  return { ...tried, state: 'pending', nextAt: retryAt };
}

/** Later, and no attempt: the endpoint is busy or resting. */
export function postponed(delivery: Delivery, until: EpochMs): Delivery {
  return delivery.state === 'pending' ? { ...delivery, nextAt: until } : delivery;
}

export function abandoned(delivery: Delivery, death: DeathReason, now: EpochMs): Delivery {
  return delivery.state === 'pending' ? { ...delivery, state: 'dead', death, updated: now } : delivery;
}

/** The same event under the same id again, with all attempts before it; what is pending stays as it is. */
export function replayed(delivery: Delivery, now: EpochMs): Delivery {
  if (delivery.state === 'pending') return delivery;
  const { death: _, ...rest } = delivery;
  return { ...rest, state: 'pending', round: delivery.round + 1, tries: 0, nextAt: now, updated: now };
}
