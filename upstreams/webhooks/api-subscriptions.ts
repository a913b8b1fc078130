// API routes for subscriptions; a secret appears in the responses to creation and rotation only.
import { sendError, sendJson } from '../service/answer.ts';
import { readListQuery } from '../service/list-query.ts';
import { JSON_TYPE, MERGE_PATCH } from '../service/media.ts';
import { mergePatch } from '../service/merge-patch.ts';
import { offsetPage } from '../service/page.ts';
import { judge, tagOf, type Validators, validatorHeaders } from '../service/validators.ts';
import {
  CACHE_CONTROL,
  type Call,
  isRateLimited,
  type Methods,
  readBody,
  readFieldsAlone,
  sendFound,
} from './api-call.ts';
import { newDelivery } from './delivery.ts';
import { OWN_TYPES } from './event-types.ts';
import { HEALTHY } from './health.ts';
import { makeEvent } from './read-event.ts';
import { readSubscription, type WrittenSubscription } from './read-subscription.ts';
import { pickFields, SUBSCRIPTION_FIELDS, showDelivery, showHealth, showSubscription } from './show.ts';
import { enabled, type Subscription, withSecret } from './subscription.ts';

const MAX_SUBSCRIPTIONS = 100;
const DEFAULT_OVERLAP_SECONDS = 86_400;
const LONGEST_OVERLAP_SECONDS = 7 * 86_400;
/** A response with a secret must not be stored. */
const SECRET_HEADERS = { 'Cache-Control': 'no-store' };

export function collectionMethods(call: Call): Methods {
  return { GET: () => list(call), POST: () => create(call) };
}

export function subscriptionMethods(call: Call, subscription: Subscription): Methods {
  return {
    GET: async () => {
      const wanted = readFieldsAlone(call.query, { fields: SUBSCRIPTION_FIELDS });
      if ('refusal' in wanted) return sendError(call.response, 400, wanted.refusal);
      const shown = pickFields(showSubscription(subscription, call.parts.now()), wanted.fields);
      sendFound(call, JSON.stringify(shown), wholeSeconds(subscription.updated));
    },
    PUT: () => change(call, subscription, 'PUT'),
    PATCH: () => change(call, subscription, 'PATCH'),
    DELETE: () => remove(call, subscription),
  };
}

export function rotationMethods(call: Call, { id }: Subscription): Methods {
  const { store, newSecret, now } = call.parts;
  return {
    POST: async () => {
      const body = await readBody(call, { isOptional: true });
      if (body === undefined) return;
      const { overlap = DEFAULT_OVERLAP_SECONDS, ...others } = body;
      const [unknown] = Object.keys(others);
      if (unknown !== undefined) {
        // A leaked secret must not stay valid for a day because of a misspelt name.
        const message = `"${unknown.slice(0, 50)}" is unknown; known: overlap`;
        return sendError(call.response, 400, message);
      }
      if (!Number.isInteger(overlap) || Number(overlap) < 0 || Number(overlap) > LONGEST_OVERLAP_SECONDS) {
        const message = `overlap must be a whole number of seconds from 0 to ${LONGEST_OVERLAP_SECONDS}`;
        return sendError(call.response, 400, message);
      }
      const { secret, sealed } = newSecret();
      const rotation = { now: now(), overlapMs: Number(overlap) * 1000 };
      const after = await store.subscriptions.change(id, (present) => withSecret(present, sealed, rotation));
      if (after === undefined) return sendGone(call);
      sendJson(call.response, 200, { ...showSubscription(after, now()), secret }, SECRET_HEADERS);
    },
  };
}

/** The event is sent whatever events the subscription wants, in the same way as others. */
export function testMethods(call: Call, { id }: Subscription): Methods {
  const { store, newId, now } = call.parts;
  return {
    POST: async () => {
      const body = await readBody(call, { isOptional: true });
      if (body === undefined || isRateLimited(call)) return;
      const event = makeEvent({ id: newId('evt'), type: OWN_TYPES.test, data: { subscription: id } }, now());
      const delivery = newDelivery(event, id, now());
      await store.keep(event, [delivery]);
      sendJson(call.response, 201, showDelivery(delivery), { Location: `deliveries/${delivery.id}` });
    },
  };
}

/** Also resets the failures of the endpoint. */
export function enableMethods(call: Call, { id }: Subscription): Methods {
  const { store, now } = call.parts;
  return {
    POST: async () => {
      const body = await readBody(call, { isOptional: true });
      if (body === undefined) return;
      await store.health.change(id, () => HEALTHY);
      const after = await store.subscriptions.change(id, (present) => enabled(present, now()));
      if (after === undefined) return sendGone(call);
      sendJson(call.response, 200, showSubscription(after, now()));
    },
  };
}

export function healthMethods(call: Call, { id }: Subscription): Methods {
  const { store, rules, now } = call.parts;
  return {
    GET: async () => {
      if (call.query.size > 0) return sendError(call.response, 400, 'This request takes no query parameters');
      const shown = showHealth(await store.health.read(id), rules, now());
      sendJson(call.response, 200, shown, { 'Cache-Control': 'no-store' });
    },
  };
}

async function list(call: Call): Promise<void> {
  const wanted = readListQuery(call.query, { fields: SUBSCRIPTION_FIELDS, filters: {}, sorts: {} }, 'offset');
  if (typeof wanted === 'string') return sendError(call.response, 400, wanted);
  const { page, limit, fields } = wanted;
  const all = await call.parts.store.subscriptions.ofOwner(call.owner);
  const shown = all
    .slice((page - 1) * limit, page * limit)
    .map((each) => pickFields(showSubscription(each, call.parts.now()), fields));
  const body = JSON.stringify(offsetPage(shown, { page, limit, total: all.length }, call.query));
  sendFound(call, body);
}

async function create(call: Call): Promise<void> {
  const { store, newId, newSecret, now, checkUrl } = call.parts;
  const body = await readBody(call);
  if (body === undefined) return;
  const read = readSubscription(body, checkUrl);
  if (read.kind === 'refused') return sendError(call.response, 400, read.message);
  if ((await store.subscriptions.ofOwner(call.owner)).length >= MAX_SUBSCRIPTIONS) {
    const message = `A consumer has at most ${MAX_SUBSCRIPTIONS} subscriptions; delete one first`;
    return sendError(call.response, 409, message);
  }
  const { secret, sealed } = newSecret();
  const at = now();
  const made: Subscription = {
    id: newId('wh'),
    owner: call.owner,
    ...read.written,
    secrets: [{ sealed }],
    created: at,
    updated: at,
  };
  await store.subscriptions.add(made);
  // A relative URL, so that it also works through a gateway that has another path for the collection.
  const headers = { ...SECRET_HEADERS, Location: `webhooks/${made.id}` };
  sendJson(call.response, 201, { ...showSubscription(made, at), secret }, headers);
}

async function change(call: Call, { id, url }: Subscription, method: 'PUT' | 'PATCH'): Promise<void> {
  const { store, now, checkUrl } = call.parts;
  const types = method === 'PATCH' ? [JSON_TYPE, MERGE_PATCH] : [JSON_TYPE];
  const body = await readBody(call, { types });
  if (body === undefined) return;
  const refusal: { status?: 400 | 412; message: string } = { message: '' };
  const after = await store.subscriptions.change(id, (present) => {
    delete refusal.status;
    if (judge(call.request.headers, false, validatorsOf(present, now())) === 'failed') {
      Object.assign(refusal, { status: 412, message: 'The subscription has changed since If-Match' });
      return present;
    }
    const whole = method === 'PATCH' ? mergePatch({ ...writable(present) }, body) : body;
    const read = readSubscription(whole, checkUrl);
    if (read.kind === 'valid') return { ...present, ...read.written, updated: now() };
    Object.assign(refusal, { status: 400, message: read.message });
    return present;
  });
  if (after === undefined) return sendGone(call);
  if (refusal.status !== undefined) return sendError(call.response, refusal.status, refusal.message);
  // The failures belong to the former endpoint.
  if (after.url !== url) await store.health.change(id, () => HEALTHY);
  const headers = { ...validatorHeaders(validatorsOf(after, now())), 'Cache-Control': CACHE_CONTROL };
  sendJson(call.response, 200, showSubscription(after, now()), headers);
}

async function remove(call: Call, subscription: Subscription): Promise<void> {
  if (judge(call.request.headers, false, validatorsOf(subscription, call.parts.now())) === 'failed') {
    return sendError(call.response, 412, 'The subscription has changed since If-Match');
  }
  await call.parts.store.subscriptions.remove(subscription.id);
  call.response.writeHead(204).end();
}

function writable({ url, events, signature }: Subscription): WrittenSubscription {
  return { url, events, signature };
}

function validatorsOf(subscription: Subscription, now: number): Validators {
  const body = JSON.stringify(showSubscription(subscription, now));
  return { etag: tagOf(body), lastModified: wholeSeconds(subscription.updated) };
}

function wholeSeconds(at: number): number {
  return Math.floor(at / 1000) * 1000;
}

function sendGone({ response }: Call): void {
  sendError(response, 404, 'There is no such resource');
}
