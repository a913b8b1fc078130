// Webhook deliveries in the admin API, from the sample service and from services that fail.
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { AdminRequest } from '../../gateway/admin/route.ts';
import { createWebhookService } from '../../gateway/admin/webhooks/service.ts';
import { webhookRoutes } from '../../gateway/admin/webhooks/webhooks.ts';
import { abandoned, afterAttempt, type KeptEvent, newDelivery } from '../../upstreams/webhooks/delivery.ts';
import { openSqliteStore } from '../../upstreams/webhooks/sqlite/store.ts';
import { startWebhooks } from '../../upstreams/webhooks/webhooks.ts';
import { subscriptionOf } from '../contracts/webhook-store.ts';

const NOW = Date.UTC(2026, 10, 20);
const MARKUP = '<img src=x onerror=alert(1)>';
const HOUR = 3_600_000;
const SECRET_URL = 'https://hooks.example.org/s3cret?t=s3cret';

let perTest = new AsyncDisposableStack();
afterEach(async () => {
  await perTest.disposeAsync();
  perTest = new AsyncDisposableStack();
});

interface Asked {
  readonly subscription?: string;
  readonly query?: string;
  readonly body?: unknown;
}

async function ask(
  service: Parameters<typeof webhookRoutes>[0]['service'],
  method: 'GET' | 'POST',
  path: string,
  { subscription = 'wh_1', query = '', body }: Asked = {},
) {
  const ports = { service, now: () => NOW, wallClock: () => NOW + HOUR };
  const route = webhookRoutes(ports).find((each) => each.method === method && each.path === path);
  const request: AdminRequest = {
    parameter: () => subscription,
    query: new URLSearchParams(query),
    accept: undefined,
    body,
  };
  if (route === undefined) throw new Error(`there is no ${method} ${path}`);
  const { answer, audit = {} } =
    route.method === 'GET' ? { answer: await route.show(request) } : await route.perform(request);
  return { status: answer.status, headers: answer.headers, json: JSON.parse(answer.body), audit };
}

const ALL = '/-/webhooks';
const ONE = '/-/webhooks/{subscription}';
const REPLAY = '/-/webhooks/{subscription}/replay';

/** The sample service with a dead letter of wh_1, whose breaker is open, and with wh_2, which is disabled. */
async function sample() {
  const store = openSqliteStore({ file: ':memory:', now: () => NOW });
  const service = await startWebhooks({
    port: 0,
    store,
    sealingKey: Buffer.alloc(32, 1),
    destinations: { allow: [], deny: [] },
    ca: () => undefined,
    log: () => undefined,
    now: () => NOW,
  });
  perTest.defer(service.close);
  await store.subscriptions.add(subscriptionOf('wh_1', { url: SECRET_URL, owner: MARKUP }));
  await store.subscriptions.add(subscriptionOf('wh_2', { disabled: { reason: 'gone', at: NOW } }));
  const event: KeptEvent = { id: 'evt_1', type: 'payment.completed', body: '{}', kept: NOW };
  const delivery = newDelivery(event, 'wh_1', NOW + HOUR);
  await store.keep(event, [delivery]);
  const attempt = { at: NOW, outcome: 'failed', status: 503, message: MARKUP, durationMs: 12 } as const;
  await store.deliveries.change(delivery.id, (each) =>
    afterAttempt(each, attempt, { now: NOW, retryAt: undefined, death: 'attempts_exhausted' }),
  );
  await store.health.change('wh_1', (before) => ({
    ...before,
    failures: 10,
    failingSince: NOW - HOUR,
    openUntil: NOW + HOUR,
    lastAttempt: { at: NOW, outcome: 'failed', status: 503 },
  }));
  return { store, delivery: delivery.id, service: createWebhookService(`${service.url}/admin`) };
}

/** The URL of a server with this listener, which is closed after the test. */
async function elsewhere(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  perTest.defer(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('the webhooks of the admin API', () => {
  it('list subscriptions with state, counts and attempts, and only the host of their URL', async () => {
    const { service } = await sample();
    const { status, json } = await ask(service, 'GET', ALL);
    expect(status).toBe(200);
    expect(json).toMatchObject({
      now: '2026-11-20T00:00:00Z',
      clock: '2026-11-20T01:00:00Z',
      deliveries: { pending: 0, delivered: 0, dead: 1 },
      oldestDue: null,
      total: 2,
    });
    expect(json.subscriptions).toMatchObject([
      {
        subscription: 'wh_1',
        owner: MARKUP,
        host: 'hooks.example.org',
        state: 'open',
        openUntil: '2026-11-20T01:00:00Z',
        failures: 10,
        ...{ pending: 0, delivered: 0, dead: 1 },
        lastAttempt: { at: '2026-11-20T00:00:00Z', outcome: 'failed', status: 503 },
        nextAttempt: null,
      },
      { subscription: 'wh_2', state: 'disabled', disabled: { reason: 'gone' }, lastAttempt: null },
    ]);
    expect(JSON.stringify(json)).not.toContain('s3cret');
  });

  it('list the deliveries of a subscription by state, each with its attempts', async () => {
    const { service, delivery } = await sample();
    const { json } = await ask(service, 'GET', ONE, { query: 'state=dead' });
    expect(json).toMatchObject({ subscription: 'wh_1', total: 1 });
    expect(json.deliveries).toMatchObject([
      {
        delivery,
        event: 'evt_1',
        type: 'payment.completed',
        state: 'dead',
        reason: 'attempts_exhausted',
        nextAttempt: null,
        attempts: [
          { at: '2026-11-20T00:00:00Z', outcome: 'failed', status: 503, message: MARKUP, milliseconds: 12 },
        ],
      },
    ]);
    expect((await ask(service, 'GET', ONE, { query: 'state=pending' })).json.deliveries).toEqual([]);
  });

  it('replay a dead letter, and the audit names its subscription', async () => {
    const { service, store, delivery } = await sample();
    const done = await ask(service, 'POST', REPLAY, { body: { delivery, by: 'maria', why: 'mended' } });
    expect(done).toMatchObject({
      status: 200,
      json: { replayed: 1, left: 0 },
      audit: { subject: 'wh_1', by: 'maria', why: 'mended', after: { delivery, replayed: 1 } },
    });
    expect(await store.deliveries.read(delivery)).toMatchObject({ state: 'pending', round: 1 });
    expect(await ask(service, 'POST', REPLAY, { body: { delivery } })).toMatchObject({
      status: 409,
      json: { message: 'The delivery is still pending' },
    });
    await store.deliveries.change(delivery, (each) => abandoned(each, 'attempts_exhausted', NOW));
    const before = await ask(service, 'POST', REPLAY, { body: { until: '2026-11-20' } });
    expect(before.json).toMatchObject({ replayed: 0 });
    const after = await ask(service, 'POST', REPLAY, { body: { since: '2026-11-20' } });
    expect(after.json).toMatchObject({ replayed: 1 });
  });

  it.each([
    ['GET', ONE, { subscription: 'wh_9' }, 404],
    ['GET', ONE, { subscription: 'wh_1&state=dead' }, 404],
    ['GET', ONE, { query: 'state=lost' }, 400],
    ['GET', ONE, { query: 'stat=dead' }, 400],
    ['POST', REPLAY, { subscription: 'wh_9', body: {} }, 404],
    ['POST', REPLAY, { subscription: 'wh_2', body: {} }, 409],
    ['POST', REPLAY, { body: undefined }, 400],
    ['POST', REPLAY, { body: { deliveri: 'dlv_1' } }, 400],
    ['POST', REPLAY, { body: { delivery: 'dlv_9' } }, 404],
  ] as const)('%s %s %j is %i', async (method, path, asked, expected) => {
    const { service } = await sample();
    expect((await ask(service, method, path, asked)).status).toBe(expected);
  });

  it('get 404 with the key to set if they are not configured', async () => {
    for (const [method, path] of [['GET', ALL] as const, ['GET', ONE] as const, ['POST', REPLAY] as const]) {
      const { status, json } = await ask(undefined, method, path, { body: {} });
      expect(status).toBe(404);
      expect(json.message).toContain('notify: { webhooks: { deliveries: "http://127.0.0.1:4006/admin" } }');
    }
  });
});

describe('a webhooks service', () => {
  const problem = async (
    listener: RequestListener,
    bounds: Parameters<typeof createWebhookService>[1] = {},
  ) => {
    const { status, headers, json } = await ask(
      createWebhookService(await elsewhere(listener), bounds),
      'GET',
      ALL,
    );
    expect(JSON.stringify(json)).not.toMatch(/127\.0\.0\.1|localhost/);
    return { status, headers, json };
  };

  it('that is unreachable gives 503 with Retry-After and without its address', async () => {
    const url = await elsewhere(() => undefined);
    await perTest.disposeAsync();
    perTest = new AsyncDisposableStack();
    const { status, headers, json } = await ask(createWebhookService(url), 'GET', ALL);
    expect([status, headers['retry-after']]).toEqual([503, '5']);
    expect(json.message).toBe(
      'The webhooks service cannot be reached (ECONNREFUSED). Check notify.webhooks.deliveries of the gateway file.',
    );
  });

  it('that closes the connection gives 503', async () => {
    expect((await problem((request) => request.socket.destroy())).status).toBe(503);
  });

  it('that does not complete its response gives 504', async () => {
    const silent = await problem(() => undefined, { withinMs: 60 });
    expect(silent).toMatchObject({ status: 504, json: { timeout: '0.06s' } });
    const halfway = await problem((_request, response) => void response.write('{'), { withinMs: 60 });
    expect(halfway.status).toBe(504);
  });

  it('that responds with more than 4 MiB gives 502, and its connection is closed', async () => {
    const cut = Promise.withResolvers<void>();
    const { status, json } = await problem((_request, response) => {
      const more = (): void => void response.write(' '.repeat(4 * 1024 * 1024));
      response.on('drain', more).once('close', cut.resolve);
      more();
    });
    expect(status).toBe(502);
    expect(json.message).toContain('more than 4 MiB');
    await cut.promise;
  });

  it('that redirects gives 502, and the redirect is not followed', async () => {
    let followed = false;
    const there = await elsewhere((_request, response) => {
      followed = true;
      response.end('{}');
    });
    const { status } = await problem((_request, response) =>
      response.writeHead(302, { location: there }).end(),
    );
    expect([status, followed]).toEqual([502, false]);
  });

  it.each([
    ['HTML', 200, '<!doctype html>'],
    ['other JSON', 200, '{"status":"ok"}'],
    ['negative counts', 200, '{"store":"x","deliveries":{"pending":-1,"delivered":0,"dead":0}}'],
    ['status 500', 500, '{"error":"x","message":"secret"}'],
    ['status 404', 404, '{}'],
  ])('that responds with %s gives 502 without the text of its response', async (_what, answered, text) => {
    const { status, json } = await problem((_request, response) => response.writeHead(answered).end(text));
    expect([status, json.service]).toEqual([502, 'webhooks']);
    expect(json.message).not.toContain('secret');
  });

  it('that has lost its store gives 503', async () => {
    const { status, json } = await problem((_request, response) => response.writeHead(503).end('{}'));
    expect(status).toBe(503);
    expect(json.message).toContain('its store');
  });

  it('that sends unknown members and long texts is read, and the texts are cut', async () => {
    const endpoint = {
      ...{ id: 'wh_1', owner: 'x'.repeat(10_000), host: 'h', events: [], status: 'enabled', extra: 1 },
      health: { breaker: 'resting', failures: 0 },
      deliveries: { pending: 0, delivered: 0, dead: 0 },
    };
    const overview = {
      ...{ store: 'other', deliveries: endpoint.deliveries, endpoints_total: 1, extra: 1 },
      endpoints: [endpoint],
    };
    const { status, json } = await problem((_request, response) => response.end(JSON.stringify(overview)));
    expect(status).toBe(200);
    expect(json.subscriptions[0]).toMatchObject({ owner: 'x'.repeat(256), state: 'resting' });
    expect(JSON.stringify(json)).not.toContain('extra');
  });
});
