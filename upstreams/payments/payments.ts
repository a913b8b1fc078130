// The payments service: one set of payments behind three editions of its API, selected by the API-Version header of the gateway.
import type { RequestListener } from 'node:http';
import { sendError } from '../service/answer.ts';
import { answerCollection } from '../service/collection.ts';
import type { Edition } from '../service/collection-contract.ts';
import { openKeys } from '../service/idempotency-keys.ts';
import { listen, type Service } from '../service/listen.ts';
import { openStored, type StoredOptions } from '../service/stored-service.ts';
import { EDITION_2024_09_01 } from './edition-2024-09-01.ts';
import { EDITION_2025_09_15 } from './edition-2025-09-15.ts';
import { EDITION_2026_06_01 } from './edition-2026-06-01.ts';
import {
  capturePayment,
  changePayment,
  fillPayments,
  makePayment,
  openPayments,
  type Payment,
  refundPayment,
} from './payment.ts';

const EDITIONS: ReadonlyMap<string, Edition<Payment>> = new Map([
  ['2024-09-01', EDITION_2024_09_01],
  ['2025-09-15', EDITION_2025_09_15],
  ['2026-06-01', EDITION_2026_06_01],
]);

export async function startPayments(options: StoredOptions): Promise<Service> {
  const { database, outbox, now, closeWith } = openStored(options, 'payments', fillPayments);
  const records = openPayments(database);
  const writing = {
    database,
    outbox,
    keys: openKeys(database),
    create: makePayment,
    change: changePayment,
    removed: undefined,
    actions: { capture: capturePayment, refund: refundPayment },
    // The specification's names for the content of an event.
    dataOf: (id: string, { payer, amount, currency, state }: Payment) => ({
      id,
      customer: payer,
      amount,
      currency,
      state,
    }),
  };
  const byEdition = new Map(
    Array.from(EDITIONS, ([day, edition]): [string, RequestListener] => [
      day,
      answerCollection({
        path: '/payments',
        // Not `public`: shared caches must not store a person's payments (RFC 9111 section 3.5). Only the gateway knows which
        // consumer a pin belongs to.
        cacheControl: 'max-age=60',
        vary: 'API-Version',
        paging: 'cursor',
        records,
        idOf: (key) => `p-${key}`,
        keyOf: (id) => (/^p-[1-9]\d{0,14}$/.test(id) ? Number(id.slice(2)) : undefined),
        edition,
        editionName: day,
        now,
        writing,
      }),
    ]),
  );
  const starting = listen((request, response) => {
    const answer = byEdition.get(String(request.headers['api-version']));
    if (answer !== undefined) return answer(request, response);
    response.setHeader('Vary', 'API-Version');
    sendError(response, 400, `API-Version must be one of ${[...EDITIONS.keys()].join(', ')}`);
  }, options);
  return closeWith(starting);
}
