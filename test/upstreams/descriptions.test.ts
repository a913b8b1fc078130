// Tests of the samples' OpenAPI descriptions: each is valid, and its service returns every status in it.
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startOrdersV1 } from '../../upstreams/orders/v1.ts';
import { startOrdersV2 } from '../../upstreams/orders/v2.ts';
import { startPayments } from '../../upstreams/payments/payments.ts';
import type { Service } from '../../upstreams/service/listen.ts';
import { describedBy } from '../support/described-service.ts';

const OF_THE_GATEWAY = ['401', '403', '429'];

const EDITIONS = [
  {
    file: 'upstreams/orders/v1.openapi.yaml',
    start: startOrdersV1,
    written: { customerName: 'acme', amount: '12.50', orderDate: '2026-03-01' },
    change: { amount: '9.99' },
    ids: { open: '1002', closed: '1014', conflicting: { cancel: '1001' }, unknown: '9' },
  },
  {
    file: 'upstreams/orders/v2.openapi.yaml',
    start: startOrdersV2,
    written: { customer: 'acme', amount: 1250, currency: 'USD', created: 1_772_323_200 },
    change: { amount: 999 },
    ids: { open: '1002', closed: '1014', conflicting: { cancel: '1001' }, unknown: '9' },
  },
  ...(['2024-09-01', '2025-09-15', '2026-06-01'] as const).map((edition) => ({
    file: `upstreams/payments/${edition}.openapi.yaml`,
    start: startPayments,
    edition,
    ...{
      '2024-09-01': {
        written: { payer: 'acme', amount: '9.05', currency: 'EUR', date: '2026-03-02' },
        change: { amount: '9.99' },
      },
      '2025-09-15': {
        written: { payer: 'acme', amount: 905, currency: 'CHF', created: 1_772_409_600 },
        change: { amount: 999 },
      },
      '2026-06-01': {
        written: { payer: { name: 'a' }, money: { amount: 905, currency: 'EUR' }, created: 1_772_409_600 },
        change: { money: { amount: 999 } },
      },
    }[edition],
    ids: {
      open: 'p-2012',
      closed: 'p-2006',
      conflicting: { capture: 'p-2001', refund: 'p-2006' },
      unknown: 'p-9',
    },
  })),
];

describe.each(EDITIONS)('$file', ({ file, start, written, change, ids, ...more }) => {
  const { description, isOpenApi, judge, sawAll } = describedBy(file);
  const edition = 'edition' in more ? { 'api-version': more.edition } : {};
  let service: Service;
  beforeAll(async () => {
    service = await start({ port: 0 });
  });
  afterAll(() => service.close());

  interface Asked {
    readonly id?: string;
    readonly query?: string;
    readonly headers?: Record<string, string>;
    readonly body?: unknown;
  }

  async function ask(template: string, method: string, expected: number, asked: Asked = {}) {
    const { id = ids.open, query = '', headers = {}, body } = asked;
    const answer = await fetch(service.url + template.replace(/\{\w+\}/, id) + query, {
      method: method.toUpperCase(),
      headers: {
        ...edition,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    await judge(template, method, expected, answer);
    return answer;
  }

  const HUGE = `{"x":"${'x'.repeat(1024 * 1024)}"}`;
  const bad = { headers: { 'if-match': '"other"' } };
  const text406 = { headers: { accept: 'text/html' } };
  const plain = { body: 'x', headers: { 'content-type': 'text/plain' } };
  const keyed = (key: string, body: unknown) => ({ body, headers: { 'idempotency-key': key } });
  const [list = '', item = '', ...actions] = Object.keys(description.paths);

  it('is valid OpenAPI', isOpenApi);

  it('OAS-1, OAS-3: describes the responses of the collection', async () => {
    const whole = await ask(list, 'get', 200, { query: '?limit=100' });
    const etag = whole.headers.get('etag') ?? '';
    await ask(list, 'get', 304, { query: '?limit=100', headers: { 'if-none-match': etag } });
    await ask(list, 'get', 400, { query: '?colour=red' });
    await ask(list, 'get', 406, text406);
    await ask(list, 'get', 412, bad);
    await ask(list, 'post', 201, { body: written });
    await ask(list, 'post', 400, { body: {} });
    await ask(list, 'post', 406, { body: written, ...text406 });
    await ask(list, 'post', 413, { body: HUGE });
    await ask(list, 'post', 415, plain);
    await ask(list, 'post', 201, keyed('a', written));
    await ask(list, 'post', 201, keyed('a', written));
    await ask(list, 'post', 422, keyed('a', { ...written, ...change }));
    const slow = request(service.url + list, {
      method: 'POST',
      headers: { ...edition, 'idempotency-key': 'b' },
    });
    slow.on('error', () => slow.destroy());
    slow.write('{');
    await expect
      .poll(async () => {
        const answer = await fetch(service.url + list, {
          method: 'POST',
          headers: { ...edition, 'content-type': 'application/json', 'idempotency-key': 'b' },
          body: '{}',
        });
        if (answer.status === 409) await judge(list, 'post', 409, answer);
        return answer.status;
      })
      .toBe(409);
    slow.destroy();
  });

  it('OAS-1, OAS-3: describes the responses of an item', async () => {
    const { unknown: id, closed } = ids;
    const etag = (await ask(item, 'get', 200)).headers.get('etag') ?? '';
    await ask(item, 'get', 304, { headers: { 'if-none-match': etag } });
    await ask(item, 'get', 400, { query: '?colour=red' });
    for (const method of ['put', 'patch']) {
      await ask(item, method, 200, { body: method === 'put' ? written : change });
      await ask(item, method, 400, {
        body: method === 'put' ? {} : Object.fromEntries(Object.keys(change).map((name) => [name, null])),
      });
      await ask(item, method, 409, { id: closed, body: written });
      await ask(item, method, 413, { body: HUGE });
      await ask(item, method, 415, plain);
    }
    await ask(item, 'put', 200, keyed('c', written));
    await ask(item, 'put', 422, keyed('c', { ...written, ...change }));
    for (const method of ['get', 'put', 'patch', 'delete']) {
      const body = method === 'put' || method === 'patch' ? { body: written } : {};
      await ask(item, method, 404, { id, ...body });
      await ask(item, method, 412, { ...bad, ...body });
      if (method !== 'delete') await ask(item, method, 406, { ...text406, ...body });
    }
    await ask(item, 'delete', 400, { query: '?really' });
  });

  it('OAS-1, OAS-3: describes the responses of its actions and of its removal', async () => {
    const conflicting = new Map(Object.entries(ids.conflicting));
    for (const action of actions) {
      const id = conflicting.get(action.split('/').at(-1) ?? '') ?? '';
      await ask(action, 'post', 409, { id });
      await ask(action, 'post', 400, { query: '?x' });
      await ask(action, 'post', 404, { id: ids.unknown });
      await ask(action, 'post', 406, text406);
      await ask(action, 'post', 412, bad);
      await ask(action, 'post', 413, { body: HUGE });
      await ask(action, 'post', 415, plain);
      await ask(action, 'post', 200, keyed('d', {}));
      await ask(action, 'post', 422, keyed('d', { why: 'x' }));
    }
    await ask(item, 'delete', 204);
    sawAll(() => OF_THE_GATEWAY);
  });
});
