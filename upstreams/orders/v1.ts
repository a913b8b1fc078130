// Orders API v1: amounts are decimal strings, dates are days, states are in capitals.
import type { Edition } from '../service/collection-contract.ts';
import type { Service } from '../service/listen.ts';
import type { StoredOptions } from '../service/stored-service.ts';
import {
  A_DAY,
  amountOf,
  boundFilter,
  DECIMAL_AMOUNT,
  dayOf,
  decimalOf,
  endOf,
  invalid,
  isOneOf,
  isText,
  secondOf,
  secondOn,
  textFilter,
  wordFilter,
} from '../service/values.ts';
import { CURRENCIES, type Order, type OrderStatus } from './order.ts';
import { startOrders } from './service.ts';

const STATES = { open: 'OPEN', shipped: 'SHIPPED', cancelled: 'CANCELLED' } as const;
const KEPT: Readonly<Record<string, OrderStatus>> = {
  OPEN: 'open',
  SHIPPED: 'shipped',
  CANCELLED: 'cancelled',
};

const EDITION: Edition<Order> = {
  // Release 1.4 added `currency`, with orders in other currencies than euros. Clients that do not know it write as before.
  fields: ['orderNumber', 'customerName', 'amount', 'currency', 'orderDate', 'state'],
  filters: {
    customerName: textFilter('customer'),
    state: wordFilter('status', KEPT),
    minAmount: boundFilter('amount', '>=', amountOf, DECIMAL_AMOUNT),
    maxAmount: boundFilter('amount', '<=', amountOf, DECIMAL_AMOUNT),
    orderedFrom: boundFilter('created', '>=', secondOf, A_DAY),
    orderedUntil: boundFilter('created', '<=', endOf, A_DAY),
  },
  sorts: {
    orderNumber: 'key',
    customerName: 'customer',
    amount: 'amount',
    orderDate: 'created',
    state: 'status',
  },
  show: (id, { customer, amount, currency, created, status }) => ({
    orderNumber: Number(id),
    customerName: customer,
    amount: decimalOf(amount),
    currency,
    orderDate: dayOf(created),
    state: STATES[status],
  }),
  parse: ({ customerName, amount, currency, orderDate, state }, current) => {
    if (!isText(customerName)) return invalid('customerName must be one line of 1 to 200 characters');
    const minor = amountOf(amount);
    if (minor === undefined)
      return invalid('amount must be a decimal string with two places, such as "12.50"');
    const unit = currency ?? current?.currency ?? 'EUR';
    if (!isOneOf(CURRENCIES, unit)) return invalid(`currency must be one of ${CURRENCIES.join(', ')}`);
    const day = secondOf(orderDate);
    if (day === undefined) return invalid('orderDate must be a day, such as "2026-03-01"');
    const status = state === undefined ? (current?.status ?? 'open') : statusOf(state);
    if (status === undefined || (status === 'cancelled' && current?.status !== status))
      return invalid('state must be "OPEN" or "SHIPPED"; POST …/cancel cancels');
    const created = secondOn(day, current?.created);
    return {
      kind: 'valid',
      item: { customer: customerName, amount: minor, currency: unit, created, status },
    };
  },
};

/** `state` may be the name of a property that every object has. */
function statusOf(state: unknown): OrderStatus | undefined {
  return typeof state === 'string' && Object.hasOwn(KEPT, state) ? KEPT[state] : undefined;
}

export function startOrdersV1(options: StoredOptions): Promise<Service> {
  return startOrders(options, 'v1', EDITION);
}
