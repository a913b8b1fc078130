// The overview for operators: deliveries by state, and endpoints with their health, failing ones first; of a URL only the host,
// since path and query may hold a secret.
import { DELIVERY_STATES, type EpochMs } from './delivery.ts';
import { breakerState, type Health, type HealthRules } from './health.ts';
import { secondsOf, showHealth, showSubscription } from './show.ts';
import type { WebhookStore } from './store.ts';
import type { Subscription } from './subscription.ts';

export interface OverviewParts {
  readonly store: WebhookStore;
  readonly rules: HealthRules;
  readonly now: () => EpochMs;
}

const MAX_ENDPOINTS = 200;
/** The newest pending ones: they are due before those that have failed often. */
const PENDING_PER_ENDPOINT = 20;

/** Instants are seconds since 1970. Rejects if the store is unavailable. */
export async function overviewOf({ store, rules, now }: OverviewParts): Promise<object> {
  const at = now();
  const oldestDue = await store.deliveries.oldestDue();
  const all = await store.subscriptions.all();
  const known = await Promise.all(
    all.map(async (subscription) => ({ subscription, health: await store.health.read(subscription.id) })),
  );
  const shown = [
    ...known.filter((each) => isFailing(each, at)),
    ...known.filter((each) => !isFailing(each, at)),
  ];
  return {
    store: store.kind,
    deliveries: await store.deliveries.counts(),
    ...(oldestDue !== undefined && { oldest_due: secondsOf(oldestDue) }),
    endpoints_total: all.length,
    endpoints: await Promise.all(
      shown.slice(0, MAX_ENDPOINTS).map((each) => endpoint({ store, rules }, each, at)),
    ),
  };
}

interface Known {
  readonly subscription: Subscription;
  readonly health: Health;
}

function isFailing({ subscription, health }: Known, now: EpochMs): boolean {
  return subscription.disabled !== undefined || health.failures > 0 || breakerState(health, now) !== 'closed';
}

async function endpoint(
  { store, rules }: Pick<OverviewParts, 'store' | 'rules'>,
  { subscription, health }: Known,
  now: EpochMs,
): Promise<object> {
  const { id, events, status, disabled } = showSubscription(subscription, now);
  const pages = await Promise.all(
    DELIVERY_STATES.map(async (state) => {
      const limit = state === 'pending' ? PENDING_PER_ENDPOINT : 1;
      return { state, ...(await store.deliveries.page(subscription.id, { state, offset: 0, limit })) };
    }),
  );
  const waiting = pages.find(({ state }) => state === 'pending')?.items ?? [];
  const next = Math.min(...waiting.map(({ nextAt }) => nextAt));
  return {
    id,
    owner: subscription.owner,
    host: new URL(subscription.url).host,
    events,
    status,
    ...(disabled !== undefined && { disabled }),
    health: showHealth(health, rules, now),
    deliveries: Object.fromEntries(pages.map(({ state, total }) => [state, total])),
    ...(waiting.length > 0 && { next_attempt: secondsOf(next) }),
  };
}
