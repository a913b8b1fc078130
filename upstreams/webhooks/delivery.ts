// The state machine of a delivery, one event for one subscription: pending, delivered or dead, with a log of attempts.
import { createHash } from 'node:crypto';

/** Milliseconds since 1970. */
export type EpochMs = number;

export interface KeptEvent {
  readonly id: string;
  readonly type: string;
  /** The text that is signed and sent (WH-3). */
  readonly body: string;
  readonly kept: EpochMs;
}

export const DELIVERY_STATES = ['pending', 'delivered', 'dead'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

export interface Attempt {
  readonly at: EpochMs;
  readonly outcome: 'delivered' | 'failed' | 'throttled' | 'gone';
  readonly status?: number;
  /** Reveals nothing about the operator's network. */
  readonly message: string;
  readonly durationMs: number;
}

/** Every attempt failed, the subscription was disabled, the event was deleted, or the secret is lost. */
export type DeathReason = 'attempts_exhausted' | 'subscription_disabled' | 'event_forgotten' | 'secret_lost';

export interface Delivery {
  readonly id: string;
  readonly subscription: string;
  readonly event: string;
  readonly type: string;
  readonly state: DeliveryState;
  /** Number of replays. */
  readonly round: number;
  /** Attempts of this round. */
  readonly tries: number;
  /** Earliest time of the next attempt; meaningless unless pending. */
  readonly nextAt: EpochMs;
  readonly created: EpochMs;
  readonly updated: EpochMs;
  readonly death?: DeathReason;
  /** The last attempts of all rounds, oldest first. */
  readonly attempts: readonly Attempt[];
}

const MAX_ATTEMPTS_KEPT = 20;

/** The id is derived from event and subscription, so that a repeated fan-out adds nothing. */
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

/** After an attempt: delivered, pending until `retryAt`, or dead if there is no further attempt. */
export function afterAttempt(
  delivery: Delivery,
  attempt: Attempt,
  { now, retryAt, death }: { now: EpochMs; retryAt: EpochMs | undefined; death: DeathReason },
): Delivery {
  // A concurrent attempt by another process must not undo a delivery or revive a dead letter.
  if (delivery.state === 'delivered' || (delivery.state === 'dead' && attempt.outcome !== 'delivered')) {
    return delivery;
  }
  const { death: _, ...rest } = delivery;
  const tried: Delivery = {
    ...rest,
    tries: delivery.tries + 1,
    updated: now,
    attempts: [...delivery.attempts, attempt].slice(-MAX_ATTEMPTS_KEPT),
  };
  if (attempt.outcome === 'delivered') return { ...tried, state: 'delivered' };
  if (retryAt === undefined) return { ...tried, state: 'dead', death };
  return { ...tried, state: 'pending', nextAt: retryAt };
}

/** Postpones without an attempt: the endpoint is busy or its breaker is open. */
export function postponed(delivery: Delivery, until: EpochMs): Delivery {
  return delivery.state === 'pending' ? { ...delivery, nextAt: until } : delivery;
}

export function abandoned(delivery: Delivery, death: DeathReason, now: EpochMs): Delivery {
  return delivery.state === 'pending' ? { ...delivery, state: 'dead', death, updated: now } : delivery;
}

/** Pending again with the same event and id; earlier attempts are kept. A pending delivery does not change. */
export function replayed(delivery: Delivery, now: EpochMs): Delivery {
  if (delivery.state === 'pending') return delivery;
  const { death: _, ...rest } = delivery;
  return { ...rest, state: 'pending', round: delivery.round + 1, tries: 0, nextAt: now, updated: now };
}
