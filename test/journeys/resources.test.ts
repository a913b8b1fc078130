// Resource operations and paginated lists of the specification, from real orders and payments over TLS.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, type Ask, type Client, overHttp2 } from '../support/http-client.ts';
import { type SampleFixture, startSampleFixture } from '../support/sample-fixture.ts';

const stack = new AsyncDisposableStack();
let fixture: SampleFixture;
let client: Client;
let authorization = '';
beforeAll(async () => {
  fixture = stack.use(await startSampleFixture());
  client = stack.use(overHttp2(fixture.gateway.https));
  authorization = await fixture.authorizationOf('initech');
});
afterAll(() => stack.disposeAsync());

const JSON_TYPE = { 'content-type': 'application/json' };

function ask(
  path: string,
  method = 'GET',
  more: Partial<Ask> & { readonly json?: unknown } = {},
): Promise<Answer> {
  const { json, headers, ...rest } = more;
  return client.ask({
    path,
    method,
    headers: { authorization, ...(json === undefined ? {} : JSON_TYPE), ...headers },
    ...(json === undefined ? {} : { body: JSON.stringify(json) }),
    ...rest,
  });
}

describe.each([
  {
    collection: '/api/v2/orders',
    written: { customer: 'acme', amount: 1250, currency: 'EUR', created: 1_772_323_200, status: 'open' },
    change: { amount: 999 },
    action: { name: 'cancel', after: { status: 'cancelled' } },
  },
  {
    collection: '/api/v1/orders',
    written: {
      customerName: 'acme',
      amount: '12.50',
      currency: 'EUR',
      orderDate: '2026-03-01',
      state: 'OPEN',
    },
    change: { amount: '9.99' },
    action: { name: 'cancel', after: { state: 'CANCELLED' } },
  },
  {
    collection: '/api/payments',
    written: { payer: { name: 'acme' }, money: { amount: 1250, currency: 'EUR' }, created: 1_772_323_200 },
    change: { payer: { name: 'hooli' } },
    action: { name: 'refund', after: { state: 'refunded' } },
  },
])('Resource operations on $collection', ({ collection, written, change, action }) => {
  let at = '';
  let etag = '';

  it('POST creates: 201 with the representation and Location', async () => {
    const answer = await ask(collection, 'POST', { json: written });
    expect(answer).toMatchObject({ status: 201, json: written });
    expect(answer.headers['content-type']).toMatch(/^application\/json/);
    at = new URL(answer.headers.location ?? '', `https://gateway${collection}`).pathname;
    expect(at).toMatch(new RegExp(`^${collection}/[\\w-]+$`));
  });

  it('GET reads: 200, or 304 for a matching ETag; HEAD has the same headers', async () => {
    const answer = await ask(at);
    expect(answer).toMatchObject({ status: 200, json: written });
    ({ etag = '' } = answer.headers);
    expect(answer.headers['last-modified']).toMatch(/GMT$/);
    const again = await ask(at, 'GET', { headers: { 'if-none-match': etag } });
    expect([again.status, again.headers.etag, again.body.length]).toEqual([304, etag, 0]);
    const head = await ask(at, 'HEAD');
    expect([head.status, head.headers.etag, head.body.length]).toEqual([200, etag, 0]);
  });

  it('PATCH changes a part and PUT replaces: 200, or 412 after another change', async () => {
    const patched = await ask(at, 'PATCH', {
      headers: { 'content-type': 'application/merge-patch+json', 'if-match': etag },
      body: JSON.stringify(change),
    });
    expect(patched).toMatchObject({ status: 200, json: { ...written, ...change } });
    expect(await ask(at, 'PUT', { json: written, headers: { 'if-match': etag } })).toMatchObject({
      status: 412,
      json: { error: 'Precondition Failed', message: expect.any(String) },
    });
    expect(await ask(at, 'PUT', { json: written })).toMatchObject({ status: 200, json: written });
  });

  it('an action is POST on a sub-path: 200, then 409', async () => {
    const path = `${at}/${action.name}`;
    expect(await ask(path, 'POST')).toMatchObject({ status: 200, json: action.after });
    expect(await ask(path, 'POST')).toMatchObject({ status: 409, json: { error: 'Conflict' } });
    expect(await ask(path)).toMatchObject({ status: 405, headers: { allow: 'OPTIONS, POST' } });
  });

  it('DELETE removes: 204 without a body, then 404', async () => {
    const answer = await ask(at, 'DELETE');
    expect([answer.status, answer.body.length]).toEqual([204, 0]);
    expect(await ask(at)).toMatchObject({ status: 404, json: { error: 'Not Found' } });
  });

  it.each([
    ['DELETE', {}, 405, 'Method Not Allowed'],
    ['GET', { headers: { accept: 'text/html' } }, 406, 'Not Acceptable'],
    ['POST', { headers: { 'content-type': 'text/plain' }, body: 'x' }, 415, 'Unsupported Media Type'],
    ['POST', { headers: JSON_TYPE, body: '{' }, 400, 'Bad Request'],
  ])('%s with %j gets %i', async (method, more, status, error) => {
    const answer = await ask(collection, method, more);
    expect(answer).toMatchObject({ status, json: { error, message: expect.any(String) } });
    if (status === 405) expect(answer.headers.allow).toBe('GET, HEAD, OPTIONS, POST');
  });

  it('POST with an idempotency key is executed once and gets the same response', async () => {
    const headers = { 'idempotency-key': '"8e03978e-40d5-43e8-bc93-6894a57f9324"' };
    const first = await ask(collection, 'POST', { json: written, headers });
    const again = await ask(collection, 'POST', { json: written, headers });
    expect([first.status, again.status]).toEqual([201, 201]);
    expect(again.headers).toMatchObject({ location: first.headers.location, 'idempotency-replayed': 'true' });
    const other = await ask(collection, 'POST', { json: { ...written, ...change }, headers });
    expect(other).toMatchObject({ status: 422, json: { error: 'Unprocessable Content' } });
  });
});

describe('Paginated list', () => {
  it('PAG-1, PAG-3: links lead through numbered pages under the path of the gateway', async () => {
    const seen: unknown[] = [];
    let path: string | undefined = '/api/v2/orders?limit=80&status=open&fields=id&sort=-id';
    let total = 0;
    while (path !== undefined) {
      const { json } = await ask(path);
      const { data, pagination, links } = json as {
        data: { id: string }[];
        pagination: { total: number; totalPages: number };
        links: { first: string; next?: string; last: string };
      };
      ({ total } = pagination);
      seen.push(...data.map(({ id }) => id));
      const next: URL | undefined =
        links.next === undefined ? undefined : new URL(links.next, `https://gateway${path}`);
      path = next && next.pathname + next.search;
    }
    expect(total).toBeGreaterThan(100);
    expect(new Set(seen).size).toBe(total);
  });

  it('PAG-2: cursor pages have has_more, and a Link beside those of the gateway', async () => {
    const first = await ask('/api/payments?limit=100');
    const { data, has_more } = first.json as { data: { id: string }[]; has_more: boolean };
    expect(has_more).toBe(true);
    expect(first.headers.link).toContain(`<?limit=100&starting_after=${data.at(-1)?.id}>; rel="next"`);
    const second = await ask(`/api/payments?limit=100&starting_after=${data.at(-1)?.id}`);
    const page = second.json as { data: { id: string }[] };
    expect(page.data[0]?.id).toBe('p-2101');
  });

  it.each(['/api/v2/orders?colour=red', '/api/payments?page=2', '/api/v1/orders?sort=colour'])(
    'an unknown list parameter or value gets 400 with the known ones: %s',
    async (path) => {
      expect(await ask(path)).toMatchObject({
        status: 400,
        json: { message: expect.stringContaining('amount') },
      });
    },
  );
});

it('Versioning 3: both versions show the same orders while they run side by side', async () => {
  const { json } = await ask('/api/v1/orders', 'POST', {
    json: { customerName: 'globex', amount: '7.00', orderDate: '2026-03-01' },
  });
  expect(await ask(`/api/v2/orders/${json.orderNumber}`)).toMatchObject({
    status: 200,
    json: { customer: 'globex', amount: 700, currency: 'EUR', status: 'open' },
  });
});
