// Tests of idempotency keys in the samples: a repeated request runs once, over processes and restarts.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startOrdersV1 } from '../../upstreams/orders/v1.ts';
import { startOrdersV2 } from '../../upstreams/orders/v2.ts';
import type { Service } from '../../upstreams/service/listen.ts';

const DAY = 24 * 3_600_000;
const WRITTEN = { customer: 'acme', amount: 1250, currency: 'EUR', created: 1_772_323_200 };
const BODY = JSON.stringify(WRITTEN);

const dataFolder = mkdtempSync(join(tmpdir(), 'sundial-repeated-'));
let now = Date.parse('2026-11-20T12:00:00Z');
let service: Service;
const start = () => startOrdersV2({ port: 0, dataFolder, now: () => now });
beforeAll(async () => {
  service = await start();
});
afterAll(async () => {
  await service.close();
  rmSync(dataFolder, { recursive: true });
});

async function send(key: string | undefined, more: Partial<Sent> = {}) {
  const { to = service, path = '', method = 'POST', body = BODY, headers = {} } = more;
  const answer = await fetch(`${to.url}/orders${path}`, {
    method,
    body,
    headers: {
      'content-type': 'application/json',
      ...(key === undefined ? {} : { 'idempotency-key': key }),
      ...headers,
    },
  });
  const text = await answer.text();
  return {
    status: answer.status,
    text,
    location: answer.headers.get('location'),
    etag: answer.headers.get('etag'),
    replayed: answer.headers.get('idempotency-replayed'),
  };
}
interface Sent {
  readonly to: Service;
  readonly path: string;
  readonly method: string;
  readonly body: string;
  readonly headers: Record<string, string>;
}

const count = async (of = service): Promise<number> => {
  const page = (await (await fetch(`${of.url}/orders?limit=1`)).json()) as { pagination: { total: number } };
  return page.pagination.total;
};

it('IDM-3: a repetition gets the same response, marked as replayed', async () => {
  const before = await count();
  const first = await send('a');
  const again = await send('"a"');
  expect(first).toMatchObject({ status: 201, replayed: null });
  expect(again).toEqual({ ...first, replayed: 'true' });
  expect(await count()).toBe(before + 1);
});

it('IDM-3: another payload gives 422, even if only blanks differ', async () => {
  await send('b');
  expect((await send('b', { body: `${BODY} ` })).status).toBe(422);
  expect((await send('b', { body: JSON.stringify({ ...WRITTEN, amount: 1 }) })).status).toBe(422);
});

it.each([
  ['a method', { method: 'PUT', path: '/1003' }],
  ['a target', { path: '/1002/cancel', body: '{}' }],
  ['a caller', { headers: { authorization: 'Bearer x' } }],
])('IDM-4: belongs to %s', async (_, more) => {
  await send('c');
  expect(await send('c', more)).toMatchObject({ replayed: null, status: expect.toSatisfy((s) => s < 300) });
});

it('IDM-4: a key belongs to its caller, also with its next token', async () => {
  const token = (client: string, id: string) => {
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    return { authorization: `Bearer ${part({ alg: 'none' })}.${part({ client_id: client, jti: id })}.x` };
  };
  const first = await send('d', { headers: token('acme', '1') });
  expect((await send('d', { headers: token('acme', '2') })).location).toBe(first.location);
  expect((await send('d', { headers: token('globex', '3') })).replayed).toBeNull();
});

it('IDM-4: two people at one application are two callers, and so are those of two issuers', async () => {
  const token = (claims: object) => {
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    return { authorization: `Bearer ${part({ alg: 'none' })}.${part(claims)}.x` };
  };
  const ana = { iss: 'https://one.example', client_id: 'storefront', sub: 'ana' };
  const first = await send('of-ana', { headers: token({ ...ana, jti: '1' }) });
  expect(await send('of-ana', { headers: token({ ...ana, jti: '2' }) })).toEqual({
    ...first,
    replayed: 'true',
  });
  for (const other of [{ sub: 'ben' }, { iss: 'https://two.example' }, { client_id: 'classic' }]) {
    const made = await send('of-ana', { headers: token({ ...ana, ...other }) });
    expect(made, JSON.stringify(other)).toMatchObject({ status: 201, replayed: null });
    expect(made.location).not.toBe(first.location);
  }
});

it('IDM-9: the corrected request may use the key of a refused request', async () => {
  expect((await send('e', { body: '{}' })).status).toBe(400);
  expect((await send('e', { path: '/1001/cancel', body: '' })).status).toBe(409);
  expect(await send('e')).toMatchObject({ status: 201, replayed: null });
});

it('IDM-3: concurrent repetitions run once', async () => {
  const before = await count();
  const answers = await Promise.all(Array.from({ length: 30 }, () => send('f')));
  const made = answers.filter(({ status }) => status === 201);
  expect(new Set(made.map(({ location }) => location)).size).toBe(1);
  expect(made.filter(({ replayed }) => replayed === null)).toHaveLength(1);
  expect(answers.filter(({ status }) => status !== 201).every(({ status }) => status === 409)).toBe(true);
  expect(await count()).toBe(before + 1);
});

it.each(['', '""', '"a', 'a b', '"a\\"', 'ü', 'a'.repeat(256), 'a, b'])(
  'IDM-1: %j is not a key',
  async (key) => {
    expect((await send(key)).status).toBe(400);
  },
);

it('IDM-2: other methods ignore the key', async () => {
  const change = { path: '/1011', method: 'PATCH', body: '{"amount":7}' };
  await send('g', change);
  expect(await send('g', change)).toMatchObject({ status: 200, replayed: null });
});

it('a repetition gets the first response even if the tag of the order has changed', async () => {
  const tag = (await fetch(`${service.url}/orders/1012`)).headers.get('etag') ?? '';
  const sent = { path: '/1012', method: 'PUT', headers: { 'if-match': tag } };
  expect((await send('h', sent)).status).toBe(200);
  expect(await send('h', sent)).toMatchObject({ status: 200, replayed: 'true' });
});

describe('one file for both services', () => {
  it('both services share orders, and both processes of a version share keys', async () => {
    await using stack = new AsyncDisposableStack();
    const [old, twin] = await Promise.all([startOrdersV1({ port: 0, dataFolder, now: () => now }), start()]);
    stack.defer(old.close);
    stack.defer(twin.close);
    const { location } = await send('i', { body: JSON.stringify({ ...WRITTEN, currency: 'USD' }) });
    const path = `/${location}`;
    expect(await (await fetch(old.url + path)).json()).toMatchObject({
      customerName: 'acme',
      amount: '12.50',
      currency: 'USD',
      orderDate: '2026-03-01',
      state: 'OPEN',
    });
    // A client of v1 knows neither currency nor time, and changes neither.
    const put = await fetch(old.url + path, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ customerName: 'acme', amount: '9.99', orderDate: '2026-03-01' }),
    });
    expect(put.status).toBe(200);
    expect(await (await fetch(service.url + path)).json()).toMatchObject({
      ...WRITTEN,
      amount: 999,
      currency: 'USD',
    });
    const again = await send('i', { to: twin, body: JSON.stringify({ ...WRITTEN, currency: 'USD' }) });
    expect(again).toMatchObject({ location, replayed: 'true' });
    // The same key at the other version is another request with another body and response.
    const elsewhere = await fetch(`${old.url}/orders`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': 'i' },
      body: JSON.stringify({ customerName: 'acme', amount: '9.99', orderDate: '2026-03-01' }),
    });
    expect(elsewhere.status).toBe(201);
    expect(elsewhere.headers.get('idempotency-replayed')).toBeNull();
    expect(await count(old)).toBe(await count(twin));
  });

  it('orders and keys survive a restart; keys expire after a day', async () => {
    const first = await send('j');
    const total = await count();
    await service.close();
    service = await start();
    expect(await count()).toBe(total);
    expect(await send('j')).toEqual({ ...first, replayed: 'true' });
    now += DAY + 1;
    expect((await send('j')).replayed).toBeNull();
  });
});
