// Webhooks of the specification through the gateway: subscription, event on another route, signed delivery.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Ask, type Client, overHttp2 } from '../support/http-client.ts';
import { type SampleFixture, startSampleFixture } from '../support/sample-fixture.ts';

const stack = new AsyncDisposableStack();
let fixture: SampleFixture;
let client: Client;
beforeAll(async () => {
  fixture = stack.use(await startSampleFixture());
  client = stack.use(overHttp2(Number(new URL(fixture.origin).port)));
});
afterAll(() => stack.disposeAsync());

const send = (method: string, path: string, body?: object, headers: Ask['headers'] = {}) =>
  client.ask({
    method,
    path,
    headers: {
      authorization: fixture.authorization,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });

describe('webhooks through the gateway', () => {
  it('a subscriber registers a url, gets 201 with a secret, and receives signed events', async () => {
    const { hooks, received, believe } = fixture.receiver;
    const made = await send('POST', '/api/webhooks', { url: hooks, events: ['order.created'] });
    expect(made.status).toBe(201);
    expect(made.json).toMatchObject({ url: hooks, events: ['order.created'] });
    believe(String(made.json.secret));
    const at = new URL(made.headers.location ?? '', `${fixture.origin}/api/webhooks`).pathname;
    expect((await send('GET', at)).json).not.toHaveProperty('secret');

    const samples = await send('GET', '/api/v2/orders?limit=1');
    const [{ id: _, _links: __, ...like }] = samples.json.data as [Record<string, unknown>];
    const order = await send('POST', '/api/v2/orders', like);
    expect(order.status).toBe(201);
    await expect
      .poll(() => received.latest())
      .toMatchObject([{ type: 'order.created', created: expect.any(Number), data: expect.any(Object) }]);
    const log = async () => (await send('GET', `${at}/deliveries?state=delivered`)).json.data;
    await expect.poll(log).toMatchObject([{ type: 'order.created', attempts: [{ status: 200 }] }]);
    expect((await send('DELETE', at)).status).toBe(204);
    expect((await send('GET', at)).status).toBe(404);
  });

  it('each consumer sees only its own subscriptions, whatever X-Consumer-Id says', async () => {
    const made = await send('POST', '/api/webhooks', {
      url: fixture.receiver.hooks,
      events: ['order.deleted'],
    });
    const path = `/api/webhooks/${made.json.id}`;
    const authorization = await fixture.authorizationOf('globex');
    const forged = { authorization, 'x-consumer-id': 'acme' };
    expect((await send('GET', path, undefined, forged)).status).toBe(404);
    expect((await send('GET', '/api/webhooks', undefined, forged)).json).toMatchObject({
      pagination: { total: 0 },
    });
  });

  it('a POST with an idempotency key creates one subscription', async () => {
    const body = { url: fixture.receiver.hooks, events: ['order.deleted'] };
    const key = { 'idempotency-key': 'once' };
    const [first, again] = [
      await send('POST', '/api/webhooks', body, key),
      await send('POST', '/api/webhooks', body, key),
    ];
    expect(again.json).toEqual(first.json);
    expect(again.headers['idempotency-replayed']).toBe('true');
  });

  it('the intake and the admin pages of the service are not reachable', async () => {
    const paths = ['/events', '/api/events', '/admin/overview', '/api/webhooks/../events'];
    for (const path of [...paths, '/api/webhooks/%2e%2e/admin/overview']) {
      const { status } = await send('POST', path, { id: 'evt_1' });
      expect([400, 404], `${path}: ${status}`).toContain(status);
    }
    expect((await client.ask({ path: '/api/webhooks' })).status).toBe(401);
  });
});
