// Payments API 2024-09-01: amounts are decimal strings, payments have a day.
import type { Edition } from '../service/collection-contract.ts';
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
  sameWords,
  secondOf,
  secondOn,
  textFilter,
  wordFilter,
} from '../service/values.ts';
import { CURRENCIES, type Payment, STATES } from './payment.ts';

export const EDITION_2024_09_01: Edition<Payment> = {
  fields: ['id', 'payer', 'amount', 'currency', 'date', 'state'],
  filters: {
    payer: textFilter('payer'),
    state: wordFilter('state', sameWords(STATES)),
    currency: wordFilter('currency', sameWords(CURRENCIES)),
    min_amount: boundFilter('amount', '>=', amountOf, DECIMAL_AMOUNT),
    max_amount: boundFilter('amount', '<=', amountOf, DECIMAL_AMOUNT),
    from: boundFilter('created', '>=', secondOf, A_DAY),
    until: boundFilter('created', '<=', endOf, A_DAY),
  },
  sorts: { id: 'key', amount: 'amount', date: 'created' },
  show: (id, { payer, amount, currency, created, state }) => ({
    id,
    payer,
    amount: decimalOf(amount),
    currency,
    date: dayOf(created),
    state,
  }),
  parse: ({ payer, amount, currency, date }, current) => {
    if (!isText(payer)) return invalid('payer must be one line of 1 to 200 characters');
    const minor = amountOf(amount);
    if (minor === undefined)
      return invalid('amount must be a decimal string with two places, such as "12.50"');
    if (!isOneOf(CURRENCIES, currency)) return invalid(`currency must be one of ${CURRENCIES.join(', ')}`);
    const day = secondOf(date);
    if (day === undefined) return invalid('date must be a day, such as "2026-03-01"');
    const created = secondOn(day, current?.created);
    const state = current?.state ?? 'pending';
    return { kind: 'valid', item: { payer, amount: minor, currency, created, state } };
  },
};
