// The first order service: amounts are decimal strings, dates are days, states are capitals. Lives behind the gateway.

import type { JsonObject } from '../service/body.ts';
import { answerCollection, type Parsed } from '../service/collection.ts';
import { type ListenOptions, listen, type Service } from '../service/listen.ts';
import { type SampleOrder, sampleOrders } from './samples.ts';

interface OrderV1 {
  readonly orderNumber: number;
  readonly customerName: string;
  /** Euros with two decimals, as `12.50`. */
  readonly amount: string;
  readonly orderDate: string;
  readonly state: 'OPEN' | 'SHIPPED';
}

const MS_PER_DAY = 86_400_000;

export function startOrdersV1(options: ListenOptions): Promise<Service> {
  const items = new Map(sampleOrders().map((order) => [String(order.number), fromSample(order)]));
  let last = 1000 + items.size;
  const nextId = () => String(++last);
  return listen(
    answerCollection({ path: '/orders', cacheControl: 'private, no-cache', items, write: { nextId, parse } }),
    options,
  );
}

function fromSample({ number, customer, cents, day, shipped }: SampleOrder): OrderV1 {
  return {
    orderNumber: number,
    customerName: customer,
    amount: (cents / 100).toFixed(2),
    orderDate: new Date(day * MS_PER_DAY).toISOString().slice(0, 10),
    state: shipped ? 'SHIPPED' : 'OPEN',
  };
}

function parse(id: string, { customerName, amount, orderDate, state = 'OPEN' }: JsonObject): Parsed<OrderV1> {
  if (typeof customerName !== 'string' || customerName === '') {
    return { kind: 'invalid', message: 'customerName must be a non-empty string' };
  }
  if (typeof amount !== 'string' || !/^\d{1,12}\.\d\d$/.test(amount)) {
    return { kind: 'invalid', message: 'amount must be a decimal string with two places, as "12.50"' };
  }
  if (typeof orderDate !== 'string' || !/^\d{4}-\d\d-\d\d$/.test(orderDate)) {
    return { kind: 'invalid', message: 'orderDate must be a day, as "2026-03-01"' };
  }
  if (state !== 'OPEN' && state !== 'SHIPPED') {
    return { kind: 'invalid', message: 'state must be "OPEN" or "SHIPPED"' };
  }
  return { kind: 'valid', item: { orderNumber: Number(id), customerName, amount, orderDate, state } };
}
