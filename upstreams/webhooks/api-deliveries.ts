// Answers for the log of a subscription: its deliveries with their attempts, and replay of one.
// Called by api.ts with a subscription of the caller's own.
import { sendError, sendJson } from '../service/answer.ts';
import { readFields, readListQuery } from '../service/list-query.ts';
import { offsetPage } from '../service/page.ts';
import { type Call, type Methods, readBody, sendFound } from './api-call.ts';
import { DELIVERY_STATES, type Delivery, type DeliveryState, replayed } from './delivery.ts';
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

export function deliveryLog(call: Call, { id }: Subscription): Methods {
  return {
    GET: async () => {
      const asked = readListQuery(call.query, NAMES, 'offset');
      if (typeof asked === 'string') return sendError(call.response, 400, asked);
      const { page, limit, fields, where } = asked;
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
      const fields = readFields(call.query, NAMES);
      if (typeof fields === 'string') return sendError(call.response, 400, fields);
      sendFound(call, JSON.stringify(pickFields(showDelivery(delivery), fields)));
    },
  };
}

/** The same event under the same id: a receiver that has had it can tell. */
export function replayMethods(call: Call, { disabled }: Subscription, { id }: Delivery): Methods {
  const { store, now } = call.parts;
  return {
    POST: async () => {
      const body = await readBody(call, { isOptional: true });
      if (body === undefined) return;
      if (disabled !== undefined) {
        const message = 'The subscription is disabled: POST to its /enable first';
        return sendError(call.response, 409, message);
      }
      const seen = { state: 'pending' as DeliveryState };
      const after = await store.deliveries.change(id, (present) => {
        seen.state = present.state;
        return replayed(present, now());
      });
      if (after === undefined) return sendError(call.response, 404, 'There is no such resource');
      if (seen.state === 'pending') return sendError(call.response, 409, 'The delivery is still under way');
      sendJson(call.response, 200, showDelivery(after));
    },
  };
}
