// The JSON form of subscriptions, deliveries and health; instants are seconds since 1970; secrets are never included.
import type { Delivery, EpochMs } from './delivery.ts';
import { breakerState, disableProgress, type Health, type HealthRules } from './health.ts';
import { type Subscription, signingSecrets } from './subscription.ts';

export const SUBSCRIPTION_FIELDS = [
  'id',
  'url',
  'events',
  'signature',
  'status',
  'disabled',
  'previous_secrets_until',
  'created',
  'updated',
] as const;

export const DELIVERY_FIELDS = [
  'id',
  'event',
  'type',
  'state',
  'reason',
  'replays',
  'next_attempt',
  'attempts',
  'created',
  'updated',
] as const;

type Shown<Name extends string> = Readonly<Partial<Record<Name, unknown>>>;

export function showSubscription(
  subscription: Subscription,
  now: EpochMs,
): Shown<(typeof SUBSCRIPTION_FIELDS)[number]> {
  const { id, url, events, signature, disabled, created, updated } = subscription;
  const overlaps = signingSecrets(subscription, now).flatMap(({ until }) => until ?? []);
  return {
    id,
    url,
    events,
    signature,
    status: disabled === undefined ? 'enabled' : 'disabled',
    ...(disabled !== undefined && { disabled: { reason: disabled.reason, at: secondsOf(disabled.at) } }),
    ...(overlaps.length > 0 && { previous_secrets_until: secondsOf(Math.max(...overlaps)) }),
    created: secondsOf(created),
    updated: secondsOf(updated),
  };
}

export function showDelivery(delivery: Delivery): Shown<(typeof DELIVERY_FIELDS)[number]> {
  const { id, event, type, state, death, round, nextAt, attempts, created, updated } = delivery;
  return {
    id,
    event,
    type,
    state,
    ...(death !== undefined && { reason: death }),
    replays: round,
    ...(state === 'pending' && { next_attempt: secondsOf(nextAt) }),
    attempts: attempts.map(({ at, outcome, status, message, durationMs }) => ({
      at: secondsOf(at),
      outcome,
      ...(status !== undefined && { status }),
      message,
      duration_ms: durationMs,
    })),
    created: secondsOf(created),
    updated: secondsOf(updated),
  };
}

export function showHealth(health: Health, rules: HealthRules, now: EpochMs): object {
  const { failures, failingSince, openUntil, lastSuccess, lastFailure, lastAttempt } = health;
  return {
    breaker: breakerState(health, now),
    ...(openUntil !== undefined && { open_until: secondsOf(openUntil) }),
    failures,
    ...(failingSince !== undefined && { failing_since: secondsOf(failingSince) }),
    way_to_disabled: disableProgress(health, rules),
    ...(lastSuccess !== undefined && { last_success: secondsOf(lastSuccess) }),
    ...(lastFailure !== undefined && { last_failure: secondsOf(lastFailure) }),
    ...(lastAttempt !== undefined && { last_attempt: { ...lastAttempt, at: secondsOf(lastAttempt.at) } }),
  };
}

export function pickFields(shown: object, fields: readonly string[] | undefined): object {
  if (fields === undefined) return shown;
  return Object.fromEntries(Object.entries(shown).filter(([name]) => fields.includes(name)));
}

/** Since 1970. */
export function secondsOf(at: EpochMs): number {
  return Math.floor(at / 1000);
}
