// Replays one delivery, or the dead letters of a subscription from a period.
import type { JsonObject } from '../service/body.ts';
import { isSecond } from '../service/values.ts';
import { type Delivery, type DeliveryState, type EpochMs, replayed } from './delivery.ts';
import type { WebhookStore } from './store.ts';
import type { Subscription } from './subscription.ts';

export interface ReplayParts {
  readonly store: WebhookStore;
  readonly now: () => EpochMs;
}

/** Creation time of deliveries in epoch milliseconds, both included. */
export interface Period {
  readonly since: EpochMs;
  readonly until: EpochMs;
}

export interface Refusal {
  readonly kind: 'refused';
  readonly status: 400 | 404 | 409;
  readonly message: string;
}

export type OneReplayed = { readonly kind: 'replayed'; readonly delivery: Delivery } | Refusal;
export type DeadReplayed =
  /** `left`: dead letters of the period that are left for the next call. */
  { readonly kind: 'replayed'; readonly replayed: number; readonly left: number } | Refusal;

/** Each is one transaction on disk. More at once would delay deliveries. */
export const MAX_AT_ONCE = 200;
const PAGE = 100;
const DISABLED: Refusal = {
  kind: 'refused',
  status: 409,
  message: 'The subscription is disabled: POST to its /enable first',
};

/** The same event under the same id, so that the receiver can detect a duplicate. */
export async function replayOne(
  { store, now }: ReplayParts,
  { id: subscription, disabled }: Subscription,
  id: string,
): Promise<OneReplayed> {
  const found = await store.deliveries.read(id);
  if (found?.subscription !== subscription) return notFound();
  if (disabled !== undefined) return DISABLED;
  const seen = { state: 'pending' as DeliveryState };
  const after = await store.deliveries.change(id, (present) => {
    seen.state = present.state;
    return replayed(present, now());
  });
  if (after === undefined) return notFound();
  if (seen.state === 'pending')
    return { kind: 'refused', status: 409, message: 'The delivery is still pending' };
  return { kind: 'replayed', delivery: after };
}

/** Replays the newest first, up to `MAX_AT_ONCE`. */
export async function replayDead(
  { store, now }: ReplayParts,
  { id, disabled }: Subscription,
  period: Period,
): Promise<DeadReplayed> {
  if (disabled !== undefined) return DISABLED;
  const dead = await deadIn(store, id, period);
  let count = 0;
  for (const delivery of dead.slice(0, MAX_AT_ONCE)) {
    const seen = { isDead: false };
    await store.deliveries.change(delivery, (present) => {
      seen.isDead = present.state === 'dead';
      return seen.isDead ? replayed(present, now()) : present;
    });
    if (seen.isDead) count += 1;
  }
  return { kind: 'replayed', replayed: count, left: Math.max(0, dead.length - MAX_AT_ONCE) };
}

/** `since` and `until` of a body, in seconds since 1970; without them, all times. */
export function readPeriod({ since, until }: JsonObject): Period | string {
  for (const [name, value] of Object.entries({ since, until })) {
    if (value !== undefined && !isSecond(value))
      return `${name} must be a whole number of seconds since 1970`;
  }
  const period = {
    since: since === undefined ? 0 : Number(since) * 1000,
    until: until === undefined ? Number.MAX_SAFE_INTEGER : Number(until) * 1000 + 999,
  };
  return period.since > period.until ? 'since must not be after until' : period;
}

/** Collects all ids before the first change, which would shift the pages. */
async function deadIn(
  store: WebhookStore,
  subscription: string,
  { since, until }: Period,
): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let offset = 0; ; offset += PAGE) {
    const { items } = await store.deliveries.page(subscription, { state: 'dead', offset, limit: PAGE });
    ids.push(...items.filter(({ created }) => created >= since && created <= until).map(({ id }) => id));
    if (items.length < PAGE || (items.at(-1)?.created ?? 0) < since) return ids;
  }
}

function notFound(): Refusal {
  return { kind: 'refused', status: 404, message: 'There is no such resource' };
}
