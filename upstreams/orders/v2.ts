// The second order service: amounts are whole minor units with their currency, times are instants. Successor of v1.

import type { JsonObject } from '../service/body.ts';
import { answerCollection, type Parsed } from '../service/collection.ts';
import { type ListenOptions, listen, type Service } from '../service/listen.ts';
import { type SampleOrder, sampleOrders } from './samples.ts';

interface OrderV2 {
  readonly id: string;
  readonly customer: string;
  /** Minor units of `currency`: 1250 is 12.50 EUR. */
  readonly amount: number;
  readonly currency: string;
  /** Seconds since 1970. */
  readonly created: number;
  readonly status: 'open' | 'shipped';
}

const SECONDS_PER_DAY = 86_400;

export function startOrdersV2(options: ListenOptions): Promise<Service> {
  const items = new Map(sampleOrders().map((order) => [String(order.number), fromSample(order)]));
  let last = 1000 + items.size;
  const nextId = () => String(++last);
  return listen(
    answerCollection({ path: '/orders', cacheControl: 'private, no-cache', items, write: { nextId, parse } }),
    options,
  );
}

function fromSample({ number, customer, cents, day, shipped }: SampleOrder): OrderV2 {
  return {
    id: String(number),
    customer,
    amount: cents,
    currency: 'EUR',
    created: day * SECONDS_PER_DAY,
    status: shipped ? 'shipped' : 'open',
  };
}

function parse(
  id: string,
  { customer, amount, currency, created, status = 'open' }: JsonObject,
): Parsed<OrderV2> {
  if (typeof customer !== 'string' || customer === '') {
    return { kind: 'invalid', message: 'customer must be a non-empty string' };
  }
  if (!isCount(amount)) {
    return { kind: 'invalid', message: 'amount must be a whole number of minor units, as 1250' };
  }
  if (typeof currency !== 'string' || !/^[A-Z]{3}$/.test(currency)) {
    return { kind: 'invalid', message: 'currency must be three capitals, as "EUR"' };
  }
  if (!isCount(created)) {
    return { kind: 'invalid', message: 'created must be a whole number of seconds since 1970' };
  }
  if (status !== 'open' && status !== 'shipped') {
    return { kind: 'invalid', message: 'status must be "open" or "shipped"' };
  }
  return { kind: 'valid', item: { id, customer, amount, currency, created, status } };
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}
