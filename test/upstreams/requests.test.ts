// Tests of every sample collection, on orders v2: media types, preconditions, changes, fields and filters.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startOrdersV1 } from '../../upstreams/orders/v1.ts';
import { startOrdersV2 } from '../../upstreams/orders/v2.ts';
import type { Service } from '../../upstreams/service/listen.ts';
import { acceptsJson } from '../../upstreams/service/media.ts';
import { mergePatch } from '../../upstreams/service/merge-patch.ts';
import { judge } from '../../upstreams/service/validators.ts';

const NOW = Date.parse('2026-11-20T12:00:00Z');
const WRITTEN = { customer: 'acme', amount: 1250, currency: 'EUR', created: 1_772_323_200 };

let service: Service;
beforeAll(async () => {
  service = await startOrdersV2({ port: 0, now: () => NOW });
});
afterAll(() => service.close());

async function ask(path: string, method = 'GET', headers: Record<string, string> = {}, body?: unknown) {
  const answer = await fetch(`${service.url}/orders${path}`, {
    method,
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, json: text === '' ? undefined : JSON.parse(text) };
}

describe('content negotiation', () => {
  it.each([
    [
      'deeply nested objects',
      'PATCH',
      Buffer.from(`${'{"customer":'.repeat(60_000)}1${'}'.repeat(60_000)}`),
      /at most 32 levels/,
    ],
    [
      'deeply nested lists',
      'PUT',
      Buffer.from(`{"customer":${'['.repeat(60_000)}${']'.repeat(60_000)}}`),
      /at most 32 levels/,
    ],
    ['a body that is not UTF-8', 'PATCH', Buffer.from('{"customer":"Zo\xeb"}', 'latin1'), /in UTF-8/],
  ])('%s is 400', async (_name, method, body, message) => {
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(`${service.url}/orders/1006`, { method, headers, body });
    expect({ status: answer.status, ...((await answer.json()) as object) }).toEqual({
      status: 400,
      error: 'Bad Request',
      message: expect.stringMatching(message),
    });
  });

  it.each([
    [undefined, true],
    ['', true],
    ['*/*', true],
    ['application/*;q=0.1', true],
    ['text/html, application/json;q=0', false],
    ['application/json;q=0, */*', false],
    ['text/html', false],
    ['application/jsonl', false],
    ['APPLICATION/JSON; q=0.5', true],
    ['application/json; charset=utf-8', true],
  ])('RFC 9110 12.5.1: with Accept %j JSON is acceptable: %s', (accept, will) => {
    expect(acceptsJson(accept)).toBe(will);
  });

  it.each([
    ['POST', '', 'application/json', 201],
    ['POST', '', 'application/json; charset="UTF-8"', 201],
    ['POST', '', 'application/json; charset=latin1', 415],
    ['POST', '', 'application/merge-patch+json', 415],
    ['POST', '', 'application/x-www-form-urlencoded', 415],
    ['PUT', '/1003', 'text/json', 415],
    ['PATCH', '/1003', 'application/merge-patch+json', 200],
    ['PATCH', '/1003', 'application/json', 200],
    ['PATCH', '/1003', 'application/json-patch+json', 415],
  ])('ERR-4: %s %s in %s: %i', async (method, path, type, status) => {
    const answer = await ask(path, method, { 'content-type': type }, WRITTEN);
    expect(answer.status).toBe(status);
    if (status === 415) expect(answer.headers.get('accept')).toContain('application/json');
  });

  it('lists the accepted media types of a change (RFC 5789)', async () => {
    const { headers } = await ask('/1003', 'OPTIONS');
    expect(headers.get('accept-patch')).toBe('application/merge-patch+json, application/json');
  });

  it('changes nothing for a client that cannot read the response', async () => {
    const before = (await ask('?limit=1')).json.pagination.total;
    expect((await ask('', 'POST', { accept: 'text/html' }, WRITTEN)).status).toBe(406);
    expect((await ask('?limit=1')).json.pagination.total).toBe(before);
  });
});

describe('preconditions', () => {
  const CURRENT = { etag: '"a"', lastModified: Date.parse('2026-11-20T12:00:00Z') };
  const before = 'Fri, 20 Nov 2026 11:59:59 GMT';
  const at = 'Fri, 20 Nov 2026 12:00:00 GMT';
  it.each([
    [{}, 'proceed', 'proceed'],
    [{ 'if-none-match': '"a"' }, 'not-modified', 'failed'],
    [{ 'if-none-match': 'W/"b", W/"a"' }, 'not-modified', 'failed'],
    [{ 'if-none-match': '*' }, 'not-modified', 'failed'],
    [{ 'if-none-match': '"b"' }, 'proceed', 'proceed'],
    [{ 'if-none-match': '"b"', 'if-modified-since': at }, 'proceed', 'proceed'],
    [{ 'if-modified-since': at }, 'not-modified', 'proceed'],
    [{ 'if-modified-since': before }, 'proceed', 'proceed'],
    [{ 'if-modified-since': 'soon' }, 'proceed', 'proceed'],
    [{ 'if-modified-since': 'Friday, 20-Nov-26 12:00:00 GMT' }, 'not-modified', 'proceed'],
    [{ 'if-modified-since': 'Fri Nov 20 12:00:00 2026' }, 'not-modified', 'proceed'],
    [{ 'if-modified-since': 'Fri Nov 20 11:59:59 2026' }, 'proceed', 'proceed'],
    // Dates of other formats are ignored (RFC 9110 §13.1.3, §13.1.4).
    [{ 'if-modified-since': '2099' }, 'proceed', 'proceed'],
    [{ 'if-modified-since': '2099-01-01T00:00:00Z' }, 'proceed', 'proceed'],
    [{ 'if-modified-since': 'Fri, 20 Nov 2026 12:00:00 +0000' }, 'proceed', 'proceed'],
    [{ 'if-modified-since': 'Mon, 30 Feb 2099 12:00:00 GMT' }, 'proceed', 'proceed'],
    [{ 'if-unmodified-since': '0' }, 'proceed', 'proceed'],
    [{ 'if-unmodified-since': '2000-01-01' }, 'proceed', 'proceed'],
    [{ 'if-match': '"b", "a"' }, 'proceed', 'proceed'],
    [{ 'if-match': '*' }, 'proceed', 'proceed'],
    [{ 'if-match': 'W/"a"' }, 'failed', 'failed'],
    [{ 'if-match': '"b"' }, 'failed', 'failed'],
    [{ 'if-match': 'a' }, 'failed', 'failed'],
    [{ 'if-match': '"a"', 'if-unmodified-since': before }, 'proceed', 'proceed'],
    [{ 'if-unmodified-since': before }, 'failed', 'failed'],
    [{ 'if-unmodified-since': at }, 'proceed', 'proceed'],
    [{ 'if-match': '"a"', 'if-none-match': '"a"' }, 'not-modified', 'failed'],
  ] as const)('C304-3, RFC 9110 13.2.2: %j', (headers, reading, writing) => {
    expect(judge(headers, true, CURRENT)).toBe(reading);
    expect(judge(headers, false, CURRENT)).toBe(writing);
  });

  it('let one of two writers with the same tag succeed, and the response has the next tag', async () => {
    const { headers } = await ask('/1005');
    const tag = headers.get('etag') ?? '';
    const first = await ask('/1005', 'PATCH', { 'if-match': tag }, { amount: 1 });
    expect(first.status).toBe(200);
    expect(await ask('/1005', 'PATCH', { 'if-match': tag }, { amount: 2 })).toMatchObject({
      status: 412,
      json: { error: 'Precondition Failed' },
    });
    expect((await ask('/1005')).headers.get('etag')).toBe(first.headers.get('etag'));
    const next = first.headers.get('etag') ?? '';
    expect((await ask('/1005', 'DELETE', { 'if-match': next })).status).toBe(204);
  });

  it('POST returns the tag that the new order has at its own URL', async () => {
    const made = await ask('', 'POST', {}, WRITTEN);
    const location = new URL(made.headers.get('location') ?? '', `${service.url}/orders`);
    expect((await fetch(location)).headers.get('etag')).toBe(made.headers.get('etag'));
    expect(made.headers.get('last-modified')).toBe('Fri, 20 Nov 2026 12:00:00 GMT');
  });

  it('BODY-5: the tag of an order depends on its fields and its version', async () => {
    await using first = await disposable(startOrdersV1({ port: 0, now: () => NOW }));
    const tags = [
      (await ask('/1007')).headers.get('etag'),
      (await ask('/1007?fields=amount,customer')).headers.get('etag'),
      (await ask('/1007?fields=amount')).headers.get('etag'),
      (await fetch(`${first.url}/orders/1007`)).headers.get('etag'),
    ];
    expect(new Set(tags).size).toBe(4);
  });

  it('any change of an item modifies the list, its removal included', async () => {
    await using other = await disposable(startOrdersV2({ port: 0, now: () => NOW }));
    const modified = async () => (await fetch(`${other.url}/orders?limit=1`)).headers.get('last-modified');
    expect(await modified()).toBe('Sun, 25 Oct 2026 00:00:00 GMT');
    await fetch(`${other.url}/orders/1100`, { method: 'DELETE' });
    expect(await modified()).toBe('Fri, 20 Nov 2026 12:00:00 GMT');
  });
});

describe('a partial change', () => {
  it.each([
    [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
    [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
    [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
    [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
    [{ a: { b: 'c', d: 1 } }, { a: { b: 'd', c: null } }, { a: { b: 'd', d: 1 } }],
    [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  ])('RFC 7396: %j with %j is %j', (target, patch, result) => {
    expect(mergePatch(target, patch)).toEqual(result);
  });

  it('cannot change a prototype', () => {
    const merged = mergePatch(
      {},
      JSON.parse('{"__proto__":{"polluted":1},"a":{"__proto__":{"polluted":1}}}'),
    );
    expect(Object.getPrototypeOf(merged)).toBe(Object.prototype);
    expect(Reflect.get({}, 'polluted')).toBeUndefined();
  });

  it('cannot remove required fields', async () => {
    expect(await ask('/1009', 'PATCH', {}, { customer: null })).toMatchObject({ status: 400 });
    expect(await ask('/1009', 'PATCH', {}, { id: '7', _links: {} })).toMatchObject({
      status: 200,
      json: { id: '1009' },
    });
  });
});

describe('lists', () => {
  let untouched: Service;
  beforeAll(async () => {
    untouched = await startOrdersV2({ port: 0 });
  });
  afterAll(() => untouched.close());
  const ids = async (query: string, of: Service): Promise<readonly number[]> => {
    const page = (await (await fetch(`${of.url}/orders${query}`)).json()) as { data: { id: string }[] };
    return page.data.map(({ id }) => Number(id));
  };

  it.each([
    ['?sort=amount&limit=3', [1001, 1002, 1003]],
    ['?sort=-id&limit=2', [1240, 1239]],
    ['?sort=customer,-amount&limit=2', [1236, 1231]],
    ['?sort=-customer,id&limit=2', [1004, 1009]],
    ['?status=cancelled&limit=3', [1014, 1054, 1074]],
    ['?customer=hooli&status=shipped&limit=2', [1010, 1025]],
    ['?min_amount=93000', [1240]],
    ['?created_from=1772582400&created_until=1772582400', [1005]],
    ['?currency=USD', []],
    ['?customer=%27%20OR%201%3D1--', []],
  ])('%s', async (query, expected) => {
    expect(await ids(query, untouched)).toEqual(expected);
  });

  it.each([
    ['?colour=red', 'Unknown parameter "colour"; known: page, limit, fields, sort, customer, status,'],
    ['?starting_after=1001', 'Unknown parameter "starting_after"'],
    ['?__proto__=1', 'Unknown parameter "__proto__"'],
    ['?status=open&status=shipped', 'status may be given once'],
    ['?status=lost', 'status must be one of open, shipped, cancelled'],
    ['?status=constructor', 'status must be one of'],
    ['?min_amount=12.50', 'min_amount must be a whole number of minor units'],
    ['?customer=', 'customer must be one line of 1 to 200 characters'],
    [
      '?sort=colour',
      'sort has "colour"; it may be id, customer, amount, created, status, with "-" before it',
    ],
    ['?sort=', 'sort has ""'],
    ['?sort=toString', 'sort has "toString"'],
    ['?sort=id,-id', 'sort names id twice'],
    ['?sort=id,amount,created,status', 'sort may have 3 names at most'],
    ['?fields=id,colour', 'fields has "colour", not one of id, customer, amount,'],
    ['/1001?sort=id', 'Unknown parameter "sort"; known: fields'],
  ])('lists the known names instead of %s', async (query, message) => {
    const { status, json } = await ask(query);
    expect({ status, error: json.error }).toEqual({ status: 400, error: 'Bad Request' });
    expect(json.message).toContain(message);
  });

  it('return selected fields of each item, and of one', async () => {
    expect((await ask('/1008?fields=id,status')).json).toEqual({ id: '1008', status: 'open' });
    expect((await ask('?fields=status&limit=1')).json.data).toEqual([{ status: 'shipped' }]);
  });

  it('links resolve from every URL where they are returned', async () => {
    const at = `${service.url}/orders`;
    const open = (await ids('?status=open&limit=1', service))[0];
    const listed = (await ask('?status=open&limit=1')).json.data[0]._links;
    const one = (await ask(`/${open}`)).json._links;
    const cancelled = (await ask(`/${open}/cancel`, 'POST')).json._links;
    for (const [relation, path] of [
      ['self', `/orders/${open}`],
      ['orders', '/orders'],
      ['cancel', `/orders/${open}/cancel`],
    ] as const) {
      expect(new URL(listed[relation].href, `${at}?status=open`).pathname).toBe(path);
      expect(new URL(one[relation].href, `${at}/${open}`).pathname).toBe(path);
      if (relation === 'cancel') expect(cancelled[relation]).toBeUndefined();
      else expect(new URL(cancelled[relation].href, `${at}/${open}/cancel`).pathname).toBe(path);
    }
  });
});

async function disposable(starting: Promise<Service>): Promise<Service & AsyncDisposable> {
  const started = await starting;
  return { ...started, [Symbol.asyncDispose]: () => started.close() };
}
