// The payments service over a real socket: one store behind three editions, told apart by API-Version.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startPayments } from '../../upstreams/payments/payments.ts';
import type { Service } from '../../upstreams/service/listen.ts';

const EDITIONS = [
  {
    edition: '2024-09-01',
    first: {
      id: 'p-2001',
      payer: 'globex',
      amount: '12.50',
      currency: 'EUR',
      date: '2026-03-01',
      state: 'completed',
    },
    written: { payer: 'acme', amount: '9.05', currency: 'EUR', date: '2026-03-02' },
    wrong: [
      { amount: 905 },
      { amount: '9.5' },
      { date: '2026-13-01' },
      { date: 1 },
      { payer: '' },
      { currency: 'eur' },
    ],
  },
  {
    edition: '2025-09-15',
    first: {
      id: 'p-2001',
      payer: 'globex',
      amount: 1250,
      currency: 'EUR',
      created: 1_772_323_200,
      state: 'completed',
    },
    written: { payer: 'acme', amount: 905, currency: 'EUR', created: 1_772_409_600 },
    wrong: [
      { amount: '9.05' },
      { amount: -1 },
      { created: '2026-03-02' },
      { payer: 7 },
      { currency: 'EURO' },
    ],
  },
  {
    edition: '2026-06-01',
    first: {
      id: 'p-2001',
      payer: { name: 'globex' },
      money: { amount: 1250, currency: 'EUR' },
      created: 1_772_323_200,
      state: 'completed',
      _links: {
        self: { href: 'p-2001' },
        payments: { href: '../payments' },
        refund: { href: 'p-2001/refund', method: 'POST' },
        edit: { href: 'p-2001', method: 'PATCH' },
        delete: { href: 'p-2001', method: 'DELETE' },
      },
    },
    written: { payer: { name: 'acme' }, money: { amount: 905, currency: 'EUR' }, created: 1_772_409_600 },
    wrong: [{ payer: 'acme' }, { money: 905 }, { money: { amount: 905 } }, { money: null }, { created: 0.5 }],
  },
] as const;

let service: Service;
beforeAll(async () => {
  service = await startPayments({ port: 0 });
});
afterAll(() => service.close());

async function ask(edition: string | undefined, path = '', method = 'GET', body?: unknown) {
  const answer = await fetch(`${service.url}/payments${path}`, {
    method,
    headers: {
      ...(edition === undefined ? {} : { 'api-version': edition }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, json: text === '' ? undefined : JSON.parse(text) };
}

describe.each(EDITIONS)('the edition of $edition', ({ edition, first, written, wrong }) => {
  it('shows payments in its own form, one and many', async () => {
    expect((await ask(edition, '/p-2001')).json).toEqual(first);
    const { data, has_more } = (await ask(edition, '?limit=1')).json;
    expect(data).toMatchObject([{ ...first, ...('_links' in first ? { _links: {} } : {}) }]);
    expect(has_more).toBe(true);
  });

  it('reads what it shows: created, changed in part, replaced', async () => {
    const created = await ask(edition, '', 'POST', written);
    expect(created).toMatchObject({ status: 201, json: written });
    const at = `/${created.json.id}`;
    expect((await ask(edition, at)).json).toMatchObject({
      id: created.json.id,
      ...written,
      state: 'completed',
    });
    const payer = edition === '2026-06-01' ? { name: 'hooli' } : 'hooli';
    const plain = { ...created.json, _links: expect.anything() };
    if (edition !== '2026-06-01') delete plain._links;
    expect((await ask(edition, at, 'PATCH', { payer })).json).toEqual({ ...plain, payer });
    expect((await ask(edition, at, 'PUT', written)).json).toEqual(plain);
    for (const { edition: other } of EDITIONS) expect((await ask(other, at)).status).toBe(200);
    expect((await ask(edition, at, 'DELETE')).status).toBe(204);
  });

  it.each<object>([...wrong])('refuses %j', async (part) => {
    expect(await ask(edition, '', 'POST', { ...written, ...part })).toMatchObject({
      status: 400,
      json: { error: 'Bad Request', message: expect.any(String) },
    });
  });
});

it('a payment is one, whichever edition wrote it', async () => {
  const [old, , young] = EDITIONS;
  const { json } = await ask(old.edition, '', 'POST', old.written);
  expect((await ask(young.edition, `/${json.id}`)).json).toMatchObject({ id: json.id, ...young.written });
});

it.each([undefined, '2025-01-01', 'v1'])('asks for an edition that there is, not %s', async (edition) => {
  expect(await ask(edition)).toMatchObject({
    status: 400,
    json: { message: 'API-Version must be one of 2024-09-01, 2025-09-15, 2026-06-01' },
  });
});
