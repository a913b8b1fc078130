// Payments API 2025-09-15: amounts are whole minor units, payments have a second.
import type { Edition } from '../service/collection-contract.ts';
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
import { CURRENCIES, type Payment, STATES } from './payment.ts';

export const BY_SECONDS = {
  filters: {
    payer: textFilter('payer'),
    state: wordFilter('state', sameWords(STATES)),
    currency: wordFilter('currency', sameWords(CURRENCIES)),
    min_amount: boundFilter('amount', '>=', readWhole, WHOLE_AMOUNT),
    max_amount: boundFilter('amount', '<=', readWhole, WHOLE_AMOUNT),
    created_from: boundFilter('created', '>=', readWhole, SECONDS),
    created_until: boundFilter('created', '<=', readWhole, SECONDS),
  },
  sorts: { id: 'key', amount: 'amount', created: 'created' },
};

export const EDITION_2025_09_15: Edition<Payment> = {
  ...BY_SECONDS,
  fields: ['id', 'payer', 'amount', 'currency', 'created', 'state'],
  show: (id, { payer, amount, currency, created, state }) => ({
    id,
    payer,
    amount,
    currency,
    created,
    state,
  }),
  parse: ({ payer, amount, currency, created }, current) => {
    if (!isText(payer)) return invalid('payer must be one line of 1 to 200 characters');
    if (!isAmount(amount)) return invalid('amount must be a whole number of minor units, such as 1250');
    if (!isOneOf(CURRENCIES, currency)) return invalid(`currency must be one of ${CURRENCIES.join(', ')}`);
    if (!isSecond(created)) return invalid('created must be a whole number of seconds since 1970');
    const state = current?.state ?? 'pending';
    return { kind: 'valid', item: { payer, amount, currency, created, state } };
  },
};
