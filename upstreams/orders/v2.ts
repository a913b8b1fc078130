// Orders API v2: amounts are whole minor units with a currency, times are instants.
import type { Edition } from '../service/collection-contract.ts';
import type { Service } from '../service/listen.ts';
import type { StoredOptions } from '../service/stored-service.ts';
import {
  boundFilter,
  invalid,
  isAmount,
  isOneOf,
  isSecond,
  isText,
  readWhole,
  SECONDS,
  sameWords,
  textFilter,
  WHOLE_AMOUNT,
  wordFilter,
} from '../service/values.ts';
import { CURRENCIES, type Order, STATUSES } from './order.ts';
import { startOrders } from './service.ts';

const EDITION: Edition<Order> = {
  fields: ['id', 'customer', 'amount', 'currency', 'created', 'status', '_links'],
  filters: {
    customer: textFilter('customer'),
    status: wordFilter('status', sameWords(STATUSES)),
    currency: wordFilter('currency', sameWords(CURRENCIES)),
    min_amount: boundFilter('amount', '>=', readWhole, WHOLE_AMOUNT),
    max_amount: boundFilter('amount', '<=', readWhole, WHOLE_AMOUNT),
    created_from: boundFilter('created', '>=', readWhole, SECONDS),
    created_until: boundFilter('created', '<=', readWhole, SECONDS),
  },
  sorts: { id: 'key', customer: 'customer', amount: 'amount', created: 'created', status: 'status' },
  show: (id, { customer, amount, currency, created, status }) => ({
    id,
    customer,
    amount,
    currency,
    created,
    status,
  }),
  parse: ({ customer, amount, currency, created, status = 'open' }, current) => {
    if (!isText(customer)) return invalid('customer must be one line of 1 to 200 characters');
    if (!isAmount(amount)) return invalid('amount must be a whole number of minor units, such as 1250');
    if (!isOneOf(CURRENCIES, currency)) return invalid(`currency must be one of ${CURRENCIES.join(', ')}`);
    if (!isSecond(created)) return invalid('created must be a whole number of seconds since 1970');
    if (!isOneOf(STATUSES, status) || (status === 'cancelled' && current?.status !== status))
      return invalid('status must be "open" or "shipped"; POST …/cancel cancels');
    return { kind: 'valid', item: { customer, amount, currency, created, status } };
  },
  links: ({ status }) => ({
    self: { to: 'item' },
    orders: { to: 'collection' },
    ...(status === 'cancelled' ? {} : { edit: { to: 'item', method: 'PATCH' } }),
    ...(status === 'open' ? { cancel: { to: 'action', name: 'cancel' } } : {}),
    delete: { to: 'item', method: 'DELETE' },
  }),
};

export function startOrdersV2(options: StoredOptions): Promise<Service> {
  return startOrders(options, 'v2', EDITION);
}
