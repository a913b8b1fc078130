// Tests of the two order services over real sockets: common behaviour and differences.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startOrdersV1 } from '../../upstreams/orders/v1.ts';
import { startOrdersV2 } from '../../upstreams/orders/v2.ts';
import type { Service } from '../../upstreams/service/listen.ts';

const WRITTEN_V1 = {
  customerName: 'acme',
  amount: '12.50',
  currency: 'EUR',
  orderDate: '2026-03-01',
  state: 'OPEN',
};
const WRITTEN_V2 = {
  customer: 'acme',
  amount: 1250,
  currency: 'EUR',
  created: 1_772_323_200,
  status: 'open',
};

const EDITIONS = [
  {
    name: 'v1',
    start: startOrdersV1,
    written: WRITTEN_V1,
    refused: { ...WRITTEN_V1, amount: 1250 },
    change: { amount: '9.99' },
  },
  {
    name: 'v2',
    start: startOrdersV2,
    written: WRITTEN_V2,
    refused: { ...WRITTEN_V2, amount: '12.50' },
    change: { amount: 999 },
  },
] as const;

function send(url: string, method: string, body: unknown): Promise<Response> {
  return fetch(url, {
    method,
    headers: { 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

describe.each(EDITIONS)('orders $name', ({ start, written, refused, change }) => {
  let service: Service;
  let orders: string;
  beforeAll(async () => {
    service = await start({ port: 0 });
    orders = `${service.url}/orders`;
  });
  afterAll(() => service.close());

  it('reports that it is healthy', async () => {
    const answer = await fetch(`${service.url}/healthz`);
    expect(answer.status).toBe(200);
    expect(await answer.json()).toEqual({ status: 'ok' });
  });

  it('creates, reads, replaces, changes and removes an order', async () => {
    const created = await send(orders, 'POST', written);
    expect(created.status).toBe(201);
    const location = new URL(created.headers.get('location') ?? '', orders);
    expect(location.pathname).toBe('/orders/1241');
    expect(await created.json()).toMatchObject(written);

    expect(await (await fetch(location)).json()).toMatchObject(written);

    const replaced = await send(location.href, 'PUT', { ...written, ...change });
    expect(replaced.status).toBe(200);
    expect(await replaced.json()).toMatchObject(change);

    const changed = await send(location.href, 'PATCH', { amount: written.amount });
    expect(changed.status).toBe(200);
    expect(await changed.json()).toMatchObject(written);

    const removed = await fetch(location, { method: 'DELETE' });
    expect(removed.status).toBe(204);
    expect(await removed.text()).toBe('');
    expect((await fetch(location)).status).toBe(404);
  });

  it.each(['POST', 'PUT', 'PATCH'])('ERR-1: refuses an invalid %s with the error body', async (method) => {
    const url = method === 'POST' ? orders : `${orders}/1002`;
    for (const body of [refused, 'no JSON', '[1]', 'null']) {
      const answer = await send(url, method, body);
      expect(answer.status).toBe(400);
      expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
      expect(await answer.json()).toEqual({ error: 'Bad Request', message: expect.any(String) });
    }
  });

  it.each(['toString', '__proto__', 'constructor', 5, null, {}])(
    '%j is not a state, in any spelling',
    async (state) => {
      const body = JSON.stringify({ ...written, state, status: state });
      expect((await send(orders, 'POST', body)).status).toBe(400);
      expect((await fetch(`${orders}?state=${state}`)).status).toBe(400);
    },
  );

  it('is cancelled only by its action, and stays cancelled when it is written back', async () => {
    const cancelled = { state: 'CANCELLED', status: 'cancelled' };
    expect((await send(orders, 'POST', { ...written, ...cancelled })).status).toBe(400);
    expect((await send(`${orders}/1002`, 'PATCH', cancelled)).status).toBe(400);
    expect((await send(`${orders}/1002`, 'PUT', { ...written, ...cancelled })).status).toBe(400);
    // 1014 is cancelled: it is refused for that, and not for its body.
    expect((await send(`${orders}/1014`, 'PATCH', cancelled)).status).toBe(409);
  });

  it('a partial PUT is refused, a partial PATCH is not', async () => {
    expect((await send(`${orders}/1002`, 'PUT', change)).status).toBe(400);
    expect((await send(`${orders}/1002`, 'PATCH', change)).status).toBe(200);
  });

  it('ERR-1: a body above 1 MiB is refused with the phrase of RFC 9110', async () => {
    const answer = await send(orders, 'POST', { ...written, note: 'x'.repeat(1024 * 1024) });
    expect(answer.status).toBe(413);
    expect(await answer.json()).toMatchObject({ error: 'Content Too Large' });
  });

  it.each(['/orders/1', '/orders/', '/orders/1001/lines', '/other', '/orders/__proto__'])(
    'ERR-1: there is no %s',
    async (path) => {
      const answer = await fetch(service.url + path);
      expect(answer.status).toBe(404);
      expect(await answer.json()).toEqual({ error: 'Not Found', message: expect.any(String) });
    },
  );

  it('ERR-4: lists the allowed methods', async () => {
    const answer = await fetch(orders, { method: 'DELETE' });
    expect(answer.status).toBe(405);
    expect(answer.headers.get('allow')).toBe('GET, HEAD, OPTIONS, POST');
    const options = await fetch(`${orders}/1001`, { method: 'OPTIONS' });
    expect(options.status).toBe(204);
    expect(options.headers.get('allow')).toBe('GET, HEAD, OPTIONS, PUT, PATCH, DELETE');
  });

  it.each(['', '/1001'])('answers 304 without a body if the tag matches (/orders%s)', async (tail) => {
    const first = await fetch(orders + tail);
    const tag = first.headers.get('etag') ?? '';
    expect(tag).toMatch(/^"[\w-]+"$/);
    for (const list of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
      const answer = await fetch(orders + tail, { headers: { 'if-none-match': list } });
      expect(answer.status).toBe(304);
      expect(answer.headers.get('etag')).toBe(tag);
      expect(answer.headers.get('cache-control')).toBe('private, no-cache');
      expect(answer.headers.has('content-type')).toBe(false);
      expect(await answer.text()).toBe('');
    }
    expect((await fetch(orders + tail, { headers: { 'if-none-match': '"other"' } })).status).toBe(200);
  });

  it('an order has another tag after a change', async () => {
    const before = (await fetch(`${orders}/1003`)).headers.get('etag');
    await send(`${orders}/1003`, 'PATCH', change);
    expect((await fetch(`${orders}/1003`)).headers.get('etag')).not.toBe(before);
  });

  it('HEAD has the length of GET, and no body', async () => {
    const answer = await fetch(`${orders}/1001`, { method: 'HEAD' });
    const full = await (await fetch(`${orders}/1001`)).text();
    expect(answer.headers.get('content-length')).toBe(String(full.length));
    expect(await answer.text()).toBe('');
  });
});

describe('the same order in both versions', () => {
  it('is a decimal string in v1 and whole minor units with a currency in v2', async () => {
    const [v1, v2] = await Promise.all([startOrdersV1({ port: 0 }), startOrdersV2({ port: 0 })]);
    const first = await (await fetch(`${v1.url}/orders/1001`)).json();
    const second = await (await fetch(`${v2.url}/orders/1001`)).json();
    expect(first).toEqual({
      orderNumber: 1001,
      customerName: 'acme',
      amount: '12.50',
      currency: 'EUR',
      orderDate: '2026-02-28',
      state: 'SHIPPED',
    });
    expect(second).toEqual({
      id: '1001',
      customer: 'acme',
      amount: 1250,
      currency: 'EUR',
      created: 1_772_236_800,
      status: 'shipped',
      _links: {
        self: { href: '1001' },
        orders: { href: '../orders' },
        edit: { href: '1001', method: 'PATCH' },
        delete: { href: '1001', method: 'DELETE' },
      },
    });
    await Promise.all([v1.close(), v2.close()]);
  });

  it('is the same after every start', async () => {
    const read = async () => {
      const service = await startOrdersV2({ port: 0 });
      const text = await (await fetch(`${service.url}/orders?limit=100`)).text();
      await service.close();
      return text;
    };
    expect(await read()).toBe(await read());
  });
});
