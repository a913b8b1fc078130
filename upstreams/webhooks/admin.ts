// Admin routes of the service, for this machine only: GET /admin/overview, GET /admin/deliveries?subscription=<id>&state=<state>,
// POST /admin/replay.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { sendError, sendJson } from '../service/answer.ts';
import { readObject } from '../service/body.ts';
import { refuseNames } from '../service/list-query.ts';
import { isWrittenIn, JSON_TYPE } from '../service/media.ts';
import { type OverviewParts, overviewOf } from './admin-overview.ts';
import { DELIVERY_STATES } from './delivery.ts';
import { readPeriod, replayDead, replayOne } from './replay.ts';
import { showDelivery } from './show.ts';

type AdminParts = OverviewParts;

const NOT_STORED = { 'Cache-Control': 'no-store' };
const MAX_DELIVERIES = 100;
const REPLAY_MEMBERS = ['subscription', 'delivery', 'since', 'until'];

/**
 * `overview`: `{ store, deliveries: { pending, delivered, dead }, oldest_due, endpoints_total, endpoints: [{ id, owner, host,
 * events, status, disabled, health, deliveries, next_attempt }] }`. `deliveries`: `{ total, data }`, the newest 100 of one
 * subscription. `replay` of `{ subscription, delivery }`: `{ replayed }`; of `{ subscription, since, until }`: the dead letters
 * of that period, `{ replayed, left }`. Rejects if the store is unavailable.
 */
export async function answerAdmin(
  parts: AdminParts,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const [path, query = ''] = (request.url ?? '').split(/\?(.*)/s);
  if (!isLocalRequest(request)) return sendError(response, 404, 'There is no such resource');
  const method = path === '/admin/replay' ? 'POST' : 'GET';
  if (request.method !== method && !(method === 'GET' && request.method === 'HEAD')) {
    const Allow = method === 'GET' ? 'GET, HEAD' : method;
    return sendError(response, 405, `This resource supports ${Allow}`, { Allow });
  }
  switch (path) {
    case '/admin/overview':
      return sendJson(response, 200, await overviewOf(parts), NOT_STORED);
    case '/admin/deliveries':
      return sendDeliveries(parts, new URLSearchParams(query), response);
    case '/admin/replay':
      return replay(parts, request, response);
    default:
      return sendError(response, 404, 'There is no such resource');
  }
}

/**
 * A browser may send requests for a page of another site, also by a host name that resolves to this machine. Origin and Host show
 * that.
 */
export function isLocalRequest({ socket, headers }: IncomingMessage): boolean {
  const from = socket.remoteAddress ?? '';
  const host = (headers.host ?? '').replace(/:\d+$/, '');
  if (headers.origin !== undefined) return false;
  return /^(?:::ffff:)?127\.|^::1$/.test(from) && ['127.0.0.1', 'localhost', '[::1]'].includes(host);
}

async function sendDeliveries(
  { store }: AdminParts,
  query: URLSearchParams,
  response: ServerResponse,
): Promise<void> {
  const unknown = refuseNames(query, ['subscription', 'state']);
  if (unknown !== undefined) return sendError(response, 400, unknown);
  const [id, written] = [query.get('subscription'), query.get('state')];
  if (id === null) return sendError(response, 400, 'subscription must be the id of a subscription');
  const state = DELIVERY_STATES.find((each) => each === written);
  if (written !== null && state === undefined)
    return sendError(response, 400, `state must be one of ${DELIVERY_STATES.join(', ')}`);
  if ((await store.subscriptions.read(id)) === undefined) return sendUnknown(response);
  const cut = { offset: 0, limit: MAX_DELIVERIES, ...(state !== undefined && { state }) };
  const { total, items } = await store.deliveries.page(id, cut);
  sendJson(response, 200, { total, data: items.map(showDelivery) }, NOT_STORED);
}

async function replay(parts: AdminParts, request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (!isWrittenIn([JSON_TYPE], request.headers))
    return sendError(response, 415, `The body must be ${JSON_TYPE} in UTF-8`);
  const body = await readObject(request);
  if (body.kind === 'refused') return sendError(response, body.status, body.message);
  const { subscription: id, delivery } = body.value;
  const unknown = Object.keys(body.value).find((name) => !REPLAY_MEMBERS.includes(name));
  if (unknown !== undefined)
    return sendError(response, 400, `The body may have ${REPLAY_MEMBERS.join(', ')}`);
  if (typeof id !== 'string')
    return sendError(response, 400, 'subscription must be the id of a subscription');
  if (delivery !== undefined && typeof delivery !== 'string')
    return sendError(response, 400, 'delivery must be the id of a delivery');
  const period = readPeriod(body.value);
  if (typeof period === 'string') return sendError(response, 400, period);
  const subscription = await parts.store.subscriptions.read(id);
  if (subscription === undefined) return sendUnknown(response);
  const done =
    delivery === undefined
      ? await replayDead(parts, subscription, period)
      : await replayOne(parts, subscription, delivery);
  if (done.kind === 'refused') return sendError(response, done.status, done.message);
  const result = 'delivery' in done ? { replayed: 1, left: 0 } : { replayed: done.replayed, left: done.left };
  sendJson(response, 200, result, NOT_STORED);
}

function sendUnknown(response: ServerResponse): void {
  sendError(response, 404, 'There is no such resource');
}
