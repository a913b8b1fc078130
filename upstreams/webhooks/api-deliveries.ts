// API routes for the deliveries of a subscription, and replay of one or of all dead letters.
import { sendError, sendJson } from '../service/answer.ts';
import { readListQuery } from '../service/list-query.ts';
import { offsetPage } from '../service/page.ts';
import { type Call, isRateLimited, type Methods, readBody, readFieldsAlone, sendFound } from './api-call.ts';
import { DELIVERY_STATES, type Delivery, type DeliveryState } from './delivery.ts';
import { readPeriod, replayDead, replayOne } from './replay.ts';
import { DELIVERY_FIELDS, pickFields, showDelivery } from './show.ts';
import type { Subscription } from './subscription.ts';

const NAMES = {
  fields: DELIVERY_FIELDS,
  filters: {
    state: {
      column: 'state',
      compare: '=',
      read: (text: string) => DELIVERY_STATES.find((state) => state === text),
      means: `one of ${DELIVERY_STATES.join(', ')}`,
    },
  },
  sorts: {},
} as const;

const PERIOD_MEMBERS = ['since', 'until'];

export function deliveryLog(call: Call, { id }: Subscription): Methods {
  return {
    GET: async () => {
      const wanted = readListQuery(call.query, NAMES, 'offset');
      if (typeof wanted === 'string') return sendError(call.response, 400, wanted);
      const { page, limit, fields, where } = wanted;
      const state = where[0]?.value as DeliveryState | undefined;
      const cut = { offset: (page - 1) * limit, limit, ...(state !== undefined && { state }) };
      const { total, items } = await call.parts.store.deliveries.page(id, cut);
      const shown = items.map((each) => pickFields(showDelivery(each), fields));
      sendFound(call, JSON.stringify(offsetPage(shown, { page, limit, total }, call.query)));
    },
  };
}

export function deliveryMethods(call: Call, delivery: Delivery): Methods {
  return {
    GET: async () => {
      const wanted = readFieldsAlone(call.query, NAMES);
      if ('refusal' in wanted) return sendError(call.response, 400, wanted.refusal);
      sendFound(call, JSON.stringify(pickFields(showDelivery(delivery), wanted.fields)));
    },
  };
}

export function replayMethods(call: Call, subscription: Subscription, { id }: Delivery): Methods {
  return {
    POST: async () => {
      const body = await readBody(call, { isOptional: true });
      if (body === undefined || isRateLimited(call)) return;
      const done = await replayOne(call.parts, subscription, id);
      if (done.kind === 'refused') return sendError(call.response, done.status, done.message);
      sendJson(call.response, 200, showDelivery(done.delivery));
    },
  };
}

/** Replays all dead letters, or those between `since` and `until` in the body. */
export function deadReplayMethods(call: Call, subscription: Subscription): Methods {
  return {
    POST: async () => {
      const body = await readBody(call, { isOptional: true });
      if (body === undefined) return;
      const unknown = Object.keys(body).find((name) => !PERIOD_MEMBERS.includes(name));
      if (unknown !== undefined) {
        const message = `"${unknown.slice(0, 50)}" is unknown; known: ${PERIOD_MEMBERS.join(', ')}`;
        return sendError(call.response, 400, message);
      }
      const period = readPeriod(body);
      if (typeof period === 'string') return sendError(call.response, 400, period);
      const done = await replayDead(call.parts, subscription, period);
      if (done.kind === 'refused') return sendError(call.response, done.status, done.message);
      sendJson(call.response, 200, { replayed: done.replayed, left: done.left });
    },
  };
}
