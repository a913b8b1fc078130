// Tests of the payments service over a real socket: the same payments in three editions, by API-Version.
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
  it('shows payments in its own form, in items and lists', async () => {
    expect((await ask(edition, '/p-2001')).json).toEqual(first);
    const { data, has_more } = (await ask(edition, '?limit=1')).json;
    expect(data).toMatchObject([{ ...first, ...('_links' in first ? { _links: {} } : {}) }]);
    expect(has_more).toBe(true);
  });

  it('accepts its own form: created, changed in part, replaced', async () => {
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

it('a payment is the same in every edition', async () => {
  const [old, , young] = EDITIONS;
  const { json } = await ask(old.edition, '', 'POST', old.written);
  expect((await ask(young.edition, `/${json.id}`)).json).toMatchObject({ id: json.id, ...young.written });
});

it.each([undefined, '2025-01-01', 'v1'])('requires a known edition, not %s', async (edition) => {
  expect(await ask(edition)).toMatchObject({
    status: 400,
    json: { message: 'API-Version must be one of 2024-09-01, 2025-09-15, 2026-06-01' },
  });
});

describe('cursor pages', () => {
  interface Cursor {
    readonly data: readonly { readonly id: string; readonly amount: number }[];
    readonly has_more: boolean;
  }
  async function walk(query: string): Promise<readonly Cursor['data'][number][]> {
    const untouched = await startPayments({ port: 0 });
    const seen = [];
    let next: URL | undefined = new URL(`/payments?${query}`, untouched.url);
    while (next !== undefined) {
      const answer: Response = await fetch(next, { headers: { 'api-version': '2025-09-15' } });
      const { data, has_more } = (await answer.json()) as Cursor;
      seen.push(...data);
      const [, target] = /^<([^>]+)>; rel="next"$/.exec(answer.headers.get('link') ?? '') ?? [];
      expect(target !== undefined).toBe(has_more);
      next = target === undefined ? undefined : new URL(target, next);
    }
    await untouched.close();
    return seen;
  }

  it('PAG-2: lead through all payments once, by the Link or by the last id', async () => {
    const ids = (await walk('limit=70')).map(({ id }) => id);
    expect(ids).toEqual(Array.from({ length: 240 }, (_, index) => `p-${2001 + index}`));
  });

  it('PAG-2: keep order and filters', async () => {
    const found = await walk('limit=9&sort=-amount&state=failed');
    expect(found).toHaveLength(20);
    expect(found.map(({ amount }) => amount)).toEqual(
      found.map(({ amount }) => amount).sort((a, b) => b - a),
    );
  });

  it('PAG-2: lead once through payments with equal sort values, in both directions', async () => {
    const body = { payer: 'alike', amount: 7, currency: 'EUR', created: 1_772_409_600 };
    const ids: string[] = [];
    for (let count = 0; count < 3; count += 1) ids.push((await ask('2025-09-15', '', 'POST', body)).json.id);
    for (const [sort, expected] of [
      ['amount', ids],
      ['-amount', ids.toReversed()],
    ] as const) {
      const seen: string[] = [];
      for (let after = ''; seen.length < 9; after = `&starting_after=${seen.at(-1)}`) {
        const { json } = await ask('2025-09-15', `?payer=alike&limit=1&sort=${sort}${after}`);
        seen.push(json.data[0].id);
        if (!json.has_more) break;
      }
      expect(seen, sort).toEqual(expected);
    }
  });

  it.each(['starting_after=p-1', 'starting_after=2001', 'starting_after=', 'page=2', 'sort=id,amount'])(
    'PAG-2: ?%s is refused',
    async (query) => {
      expect(await ask('2025-09-15', `?${query}`)).toMatchObject({
        status: 400,
        json: { error: 'Bad Request' },
      });
    },
  );

  it('PAG-2: the page after the last item is empty', async () => {
    const { json } = await ask('2025-09-15', '?starting_after=p-2240&limit=100&payer=hooli');
    expect(json).toEqual({ data: [], has_more: false });
  });
});

describe('the states of a payment', () => {
  const pay = async (payer: string) =>
    (await ask('2026-06-01', '', 'POST', { ...EDITIONS[2].written, payer: { name: payer } })).json;

  it('test payers decide the result; clients cannot write the state', async () => {
    expect((await pay('declined')).state).toBe('failed');
    expect((await pay('undecided')).state).toBe('pending');
    const { id, state } = await pay('acme');
    expect(state).toBe('completed');
    expect((await ask('2026-06-01', `/${id}`, 'PATCH', { state: 'refunded' })).json.state).toBe('completed');
  });

  it.each<{ payer: string; steps: [action: string, status: number][] }>([
    {
      payer: 'acme',
      steps: [
        ['capture', 409],
        ['refund', 200],
        ['refund', 409],
        ['capture', 409],
      ],
    },
    {
      payer: 'undecided',
      steps: [
        ['refund', 409],
        ['capture', 200],
        ['capture', 409],
        ['refund', 200],
      ],
    },
    {
      payer: 'declined',
      steps: [
        ['capture', 409],
        ['refund', 409],
      ],
    },
  ])('of $payer: allowed actions and links by state', async ({ payer, steps }) => {
    let { id, _links } = await pay(payer);
    for (const [action, status] of steps) {
      expect(Object.hasOwn(_links, action)).toBe(status === 200);
      const answer = await ask('2026-06-01', `/${id}/${action}`, 'POST');
      expect(answer.status).toBe(status);
      if (status === 200) ({ _links } = answer.json);
    }
  });

  it('a pending payment is decided by its payer at capture', async () => {
    const { id } = await pay('undecided');
    expect((await ask('2026-06-01', `/${id}`, 'PATCH', { payer: { name: 'declined' } })).status).toBe(200);
    expect((await ask('2026-06-01', `/${id}/capture`, 'POST')).json.state).toBe('failed');
  });

  it('a finished payment does not change', async () => {
    const { id } = await pay('declined');
    expect(await ask('2026-06-01', `/${id}`, 'PATCH', { payer: { name: 'x' } })).toMatchObject({
      status: 409,
    });
  });
});

it('CACHE-2: Vary names API-Version, on refusals too', async () => {
  for (const edition of ['2025-09-15', 'v1'])
    expect((await ask(edition)).headers.get('vary')).toBe('API-Version');
});
