// Payments API 2026-06-01: an amount is an object with its currency, and payments have links.
import type { Edition } from '../service/collection-contract.ts';
import { isObject } from '../service/merge-patch.ts';
import { invalid, isAmount, isOneOf, isSecond, isText } from '../service/values.ts';
import { BY_SECONDS } from './edition-2025-09-15.ts';
import { CURRENCIES, type Payment } from './payment.ts';

export const EDITION_2026_06_01: Edition<Payment> = {
  ...BY_SECONDS,
  fields: ['id', 'payer', 'money', 'created', 'state', '_links'],
  show: (id, { payer, amount, currency, created, state }) => ({
    id,
    payer: { name: payer },
    money: { amount, currency },
    created,
    state,
  }),
  parse: ({ payer, money, created }, current) => {
    const name = memberOf(payer, 'name');
    const [amount, currency] = [memberOf(money, 'amount'), memberOf(money, 'currency')];
    if (!isText(name))
      return invalid('payer must be an object whose name is one line of 1 to 200 characters');
    if (!isAmount(amount) || !isOneOf(CURRENCIES, currency)) {
      return invalid(
        `money must have minor units and one of ${CURRENCIES.join(', ')}, such as { "amount": 1250, "currency": "EUR" }`,
      );
    }
    if (!isSecond(created)) return invalid('created must be a whole number of seconds since 1970');
    const state = current?.state ?? 'pending';
    return { kind: 'valid', item: { payer: name, amount, currency, created, state } };
  },
  links: ({ state }) => ({
    self: { to: 'item' },
    payments: { to: 'collection' },
    ...(state === 'pending' ? { capture: { to: 'action', name: 'capture' } } : {}),
    ...(state === 'completed' ? { refund: { to: 'action', name: 'refund' } } : {}),
    ...(state === 'pending' || state === 'completed' ? { edit: { to: 'item', method: 'PATCH' } } : {}),
    delete: { to: 'item', method: 'DELETE' },
  }),
};

function memberOf(value: unknown, name: string): unknown {
  return isObject(value) ? Object.entries(value).find(([key]) => key === name)?.[1] : undefined;
}
