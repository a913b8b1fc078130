// The payments service: one store of payments behind three editions of its API, told apart by API-Version.
// Lives behind the gateway, which says in that header which edition an account is on.
import type { RequestListener } from 'node:http';
import { sendError } from '../service/answer.ts';
import { answerCollection } from '../service/collection.ts';
import { type ListenOptions, listen, type Service } from '../service/listen.ts';
import { EDITION_2024_09_01 } from './edition-2024-09-01.ts';
import { EDITION_2025_09_15 } from './edition-2025-09-15.ts';
import { EDITION_2026_06_01 } from './edition-2026-06-01.ts';
import { type Edition, samplePayments } from './payment.ts';

const EDITIONS: ReadonlyMap<string, Edition> = new Map([
  ['2024-09-01', EDITION_2024_09_01],
  ['2025-09-15', EDITION_2025_09_15],
  ['2026-06-01', EDITION_2026_06_01],
]);

export function startPayments(options: ListenOptions): Promise<Service> {
  const items = new Map(samplePayments().map((payment) => [payment.id, payment]));
  let last = 2000 + items.size;
  const nextId = () => `p-${++last}`;
  const byEdition = new Map(
    Array.from(EDITIONS, ([day, { show, parse }]): [string, RequestListener] => [
      day,
      // As an upstream without a thought for pins would say it: the gateway knows whom an answer is for.
      answerCollection({
        path: '/payments',
        cacheControl: 'public, max-age=60',
        items,
        show,
        write: { nextId, parse },
      }),
    ]),
  );
  return listen((request, response) => {
    const answer = byEdition.get(String(request.headers['api-version']));
    if (answer === undefined) {
      sendError(response, 400, `API-Version must be one of ${[...EDITIONS.keys()].join(', ')}`);
    } else answer(request, response);
  }, options);
}
