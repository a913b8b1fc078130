// Starts one of the two order services, a version of the API over the shared orders.
import { answerCollection } from '../service/collection.ts';
import type { Edition } from '../service/collection-contract.ts';
import { openKeys } from '../service/idempotency-keys.ts';
import { listen, type Service } from '../service/listen.ts';
import { openStored, type StoredOptions } from '../service/stored-service.ts';
import { cancelOrder, changeOrder, fillOrders, type Order, openOrders } from './order.ts';

export async function startOrders(
  options: StoredOptions,
  editionName: string,
  edition: Edition<Order>,
): Promise<Service> {
  const { database, outbox, now, closeWith } = openStored(options, 'orders', fillOrders);
  const answer = answerCollection({
    path: '/orders',
    cacheControl: 'private, no-cache',
    paging: 'offset',
    records: openOrders(database),
    idOf: String,
    keyOf: (id) => (/^[1-9]\d{0,14}$/.test(id) ? Number(id) : undefined),
    edition,
    editionName,
    now,
    writing: {
      database,
      outbox,
      keys: openKeys(database),
      create: (item) => ({ kind: 'done', item, event: 'order.created' }),
      change: changeOrder,
      removed: 'order.deleted',
      actions: { cancel: cancelOrder },
      dataOf: (id, { customer, amount, currency, status }) => ({ id, customer, amount, currency, status }),
    },
  });
  return closeWith(listen(answer, options));
}
