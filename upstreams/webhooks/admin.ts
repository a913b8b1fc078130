// What an operator and the gateway's dashboard read of the service: deliveries by state, endpoints with their health.
// GET /admin/overview and GET /admin/deliveries?subscription=<id>, for this machine alone; nothing is changed here.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { sendError, sendJson } from '../service/answer.ts';
import { DELIVERY_STATES, type EpochMs } from './delivery.ts';
import type { HealthRules } from './health.ts';
import { showDelivery, showHealth, showSubscription } from './show.ts';
import type { WebhookStore } from './store.ts';

export interface AdminParts {
  readonly store: WebhookStore;
  readonly rules: HealthRules;
  readonly now: () => EpochMs;
}

const NOT_STORED = { 'Cache-Control': 'no-store' };
const MOST_DELIVERIES = 100;

/**
 * `overview`: `{ store, deliveries: { pending, delivered, dead }, oldest_due, endpoints: [{ id, owner, host, events,
 * status, disabled, health, deliveries: { pending, delivered, dead } }] }`. `deliveries`: `{ data }`, the newest 100 of
 * one subscription. Seconds since 1970. Of a URL the host alone is shown: its path and query may hold a secret.
 */
export async function answerAdmin(
  { store, rules, now }: AdminParts,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const [path, query = ''] = (request.url ?? '').split(/\?(.*)/s);
  if (!isFromHere(request)) return sendError(response, 404, 'There is no such resource');
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    return sendError(response, 405, 'This is only read', { Allow: 'GET, HEAD' });
  }
  if (path === '/admin/overview') {
    const oldestDue = await store.deliveries.oldestDue();
    const overview = {
      store: store.kind,
      deliveries: await store.deliveries.counts(),
      ...(oldestDue !== undefined && { oldest_due: Math.floor(oldestDue / 1000) }),
      endpoints: await endpoints(store, rules, now()),
    };
    return sendJson(response, 200, overview, NOT_STORED);
  }
  if (path === '/admin/deliveries') {
    const subscription = new URLSearchParams(query).get('subscription');
    if (subscription === null) return sendError(response, 400, 'subscription must be the id of one');
    const { items } = await store.deliveries.page(subscription, { offset: 0, limit: MOST_DELIVERIES });
    return sendJson(response, 200, { data: items.map(showDelivery) }, NOT_STORED);
  }
  return sendError(response, 404, 'There is no such resource');
}

/** Through a name that another site leads to this machine, a browser would ask too: the Host tells. */
export function isFromHere({ socket, headers }: IncomingMessage): boolean {
  const from = socket.remoteAddress ?? '';
  const host = (headers.host ?? '').replace(/:\d+$/, '');
  return /^(?:::ffff:)?127\.|^::1$/.test(from) && ['127.0.0.1', 'localhost', '[::1]'].includes(host);
}

async function endpoints(store: WebhookStore, rules: HealthRules, now: EpochMs): Promise<readonly object[]> {
  const all = await store.subscriptions.all();
  return Promise.all(
    all.map(async (subscription) => {
      const { id, events, status, disabled } = showSubscription(subscription, now);
      const counted = await Promise.all(
        DELIVERY_STATES.map(async (state) => {
          const { total } = await store.deliveries.page(subscription.id, { state, offset: 0, limit: 1 });
          return [state, total] as const;
        }),
      );
      return {
        id,
        owner: subscription.owner,
        host: new URL(subscription.url).host,
        events,
        status,
        ...(disabled !== undefined && { disabled }),
        health: showHealth(await store.health.read(subscription.id), rules, now),
        deliveries: Object.fromEntries(counted),
      };
    }),
  );
}
