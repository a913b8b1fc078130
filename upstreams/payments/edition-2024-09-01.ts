// The first edition: amounts are decimal strings, payments have a day.
import { type Edition, invalid, isCurrency, isText } from './payment.ts';

const SECONDS_PER_DAY = 86_400;

export const EDITION_2024_09_01: Edition = {
  show: ({ id, payer, amount, currency, created }) => ({
    id,
    payer,
    amount: (amount / 100).toFixed(2),
    currency,
    date: new Date(created * 1000).toISOString().slice(0, 10),
  }),
  parse: (id, { payer, amount, currency, date }) => {
    if (!isText(payer)) return invalid('payer must be a non-empty string');
    if (typeof amount !== 'string' || !/^\d{1,12}\.\d\d$/.test(amount)) {
      return invalid('amount must be a decimal string with two places, as "12.50"');
    }
    if (!isCurrency(currency)) return invalid('currency must be three capitals, as "EUR"');
    const day = typeof date === 'string' && /^\d{4}-\d\d-\d\d$/.test(date) ? Date.parse(date) : Number.NaN;
    if (Number.isNaN(day)) return invalid('date must be a day, as "2026-03-01"');
    const created = Math.floor(day / 1000 / SECONDS_PER_DAY) * SECONDS_PER_DAY;
    return {
      kind: 'valid',
      item: { id, payer, amount: Number(amount.replace('.', '')), currency, created },
    };
  },
};
