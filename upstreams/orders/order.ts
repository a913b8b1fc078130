// An order as stored, its table, and its state changes; both versions of the API use it.
import type { DatabaseSync } from 'node:sqlite';
import type { Decision } from '../service/collection-contract.ts';
import { createTable, openRecords, type TableDefinition } from '../service/records.ts';

export type OrderStatus = 'open' | 'shipped' | 'cancelled';

export interface Order {
  readonly customer: string;
  /** Minor units of `currency`: 1250 is 12.50 EUR. */
  readonly amount: number;
  readonly currency: string;
  /** Seconds since 1970. */
  readonly created: number;
  readonly status: OrderStatus;
}

/** All have a hundred minor units; v1 relies on that. */
export const CURRENCIES = ['CHF', 'EUR', 'GBP', 'USD'] as const;
export const STATUSES = ['open', 'shipped', 'cancelled'] as const;

const CUSTOMERS = ['acme', 'globex', 'initech', 'umbrella', 'hooli'] as const;
const FIRST_NUMBER = 1001;
const SAMPLES = 240;
const FIRST = 1_772_236_800; // 2026-02-28T00:00:00Z
const SECONDS_PER_DAY = 86_400;

const TABLE: TableDefinition<Order> = {
  table: 'orders',
  key: 'INTEGER',
  columns: {
    customer: 'TEXT NOT NULL',
    amount: 'INTEGER NOT NULL',
    currency: 'TEXT NOT NULL',
    created: 'INTEGER NOT NULL',
    status: 'TEXT NOT NULL',
  },
  write: (order) => ({ ...order }),
  read: ({ customer, amount, currency, created, status }) => ({
    customer: String(customer),
    amount: Number(amount),
    currency: String(currency),
    created: Number(created),
    status: STATUSES.find((known) => known === status) ?? 'open',
  }),
};

export const openOrders = (database: DatabaseSync) => openRecords(database, TABLE);

/** Always the same 240 orders, 1001 first: every third shipped, every twentieth cancelled. */
export function fillOrders(database: DatabaseSync): void {
  createTable(database, TABLE);
  const orders = openOrders(database);
  for (let index = 0; index < SAMPLES; index += 1) {
    const order = sampleOrder(index);
    orders.insert(order, order.created * 1_000, FIRST_NUMBER + index);
  }
}

function sampleOrder(index: number): Order {
  return {
    customer: CUSTOMERS[index % CUSTOMERS.length] ?? 'acme',
    amount: 1250 + index * 385,
    currency: 'EUR',
    created: FIRST + index * SECONDS_PER_DAY,
    status: index % 3 === 0 ? 'shipped' : index % 20 === 13 ? 'cancelled' : 'open',
  };
}

export function changeOrder(before: Order, after: Order): Decision<Order> {
  if (before.status === 'cancelled')
    return { kind: 'conflict', message: 'The order is cancelled and cannot be changed' };
  return { kind: 'done', item: after, event: 'order.updated' };
}

export function cancelOrder(order: Order): Decision<Order> {
  if (order.status !== 'open')
    return { kind: 'conflict', message: `The order is ${order.status}: only an open order can be cancelled` };
  return { kind: 'done', item: { ...order, status: 'cancelled' }, event: 'order.cancelled' };
}
