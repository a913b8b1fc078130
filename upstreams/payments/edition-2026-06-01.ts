// The third edition: an amount is an object with its currency, so that neither is read without the other.
import { type Edition, invalid, isCount, isCurrency, isText } from './payment.ts';

export const EDITION_2026_06_01: Edition = {
  show: ({ id, payer, amount, currency, created }) => ({
    id,
    payer: { name: payer },
    money: { amount, currency },
    created,
  }),
  parse: (id, { payer, money, created }) => {
    const name = memberOf(payer, 'name');
    const [amount, currency] = [memberOf(money, 'amount'), memberOf(money, 'currency')];
    if (!isText(name)) return invalid('payer must be an object with a name');
    if (!isCount(amount) || !isCurrency(currency)) {
      return invalid('money must hold minor units and a currency, as { "amount": 1250, "currency": "EUR" }');
    }
    if (!isCount(created)) return invalid('created must be a whole number of seconds since 1970');
    return { kind: 'valid', item: { id, payer: name, amount, currency, created } };
  },
};

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null
    ? Object.entries(value).find(([key]) => key === name)?.[1]
    : undefined;
}
