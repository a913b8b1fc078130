// The second edition: amounts are whole minor units, payments have a second.
import { type Edition, invalid, isCount, isCurrency, isText } from './payment.ts';

export const EDITION_2025_09_15: Edition = {
  show: ({ id, payer, amount, currency, created }) => ({ id, payer, amount, currency, created }),
  parse: (id, { payer, amount, currency, created }) => {
    if (!isText(payer)) return invalid('payer must be a non-empty string');
    if (!isCount(amount)) return invalid('amount must be a whole number of minor units, as 1250');
    if (!isCurrency(currency)) return invalid('currency must be three capitals, as "EUR"');
    if (!isCount(created)) return invalid('created must be a whole number of seconds since 1970');
    return { kind: 'valid', item: { id, payer, amount, currency, created } };
  },
};
