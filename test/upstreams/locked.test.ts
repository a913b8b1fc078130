// Tests of sample databases locked by another connection: a request waits for a moment and then gets 503.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startOrdersV2 } from '../../upstreams/orders/v2.ts';
import { openDatabase } from '../../upstreams/service/database.ts';
import { openSqliteStore } from '../../upstreams/webhooks/sqlite/store.ts';
import { StoreUnavailable } from '../../upstreams/webhooks/store.ts';
import { startWebhooks } from '../../upstreams/webhooks/webhooks.ts';
import { subscriptionOf } from '../contracts/webhook-store.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sundial-locked-'));
});
afterAll(() => rm(folder, { recursive: true }));

function hold(name: string): Disposable {
  const other = new DatabaseSync(join(folder, name));
  other.exec('BEGIN IMMEDIATE');
  return { [Symbol.dispose]: () => other.close() };
}

async function post(url: string, body: object) {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-consumer-id': 'acme' },
    body: JSON.stringify(body),
  });
  const { status, headers } = answer;
  return {
    status,
    retryAfter: headers.get('retry-after'),
    body: (await answer.json()) as { readonly message?: unknown },
  };
}

it('a locked database is awaited for two seconds', () => {
  const database = openDatabase({ dataFolder: folder, name: 'any.db', fill: () => undefined });
  expect(database.prepare('PRAGMA busy_timeout').get()?.timeout).toBe(2_000);
  database.close();
});

it('an order gets 503 with Retry-After, and of many orders only one waits', async () => {
  const service = await startOrdersV2({ port: 0, dataFolder: folder });
  using _held = hold('orders.db');
  const order = { customer: 'acme', amount: 1250, currency: 'USD', created: 1_772_323_200 };
  const from = performance.now();
  const answers = await Promise.all(Array.from({ length: 8 }, () => post(`${service.url}/orders`, order)));
  for (const { status, retryAfter, body } of answers) {
    expect([status, retryAfter, body.message]).toEqual([503, '1', 'The service is busy']);
  }
  // One after the other they would take sixteen seconds and block reads.
  expect(performance.now() - from).toBeLessThan(8_000);
  await service.close();
});

it('a subscription gets 503 with Retry-After', async () => {
  const service = await startWebhooks({
    port: 0,
    store: openSqliteStore({ file: join(folder, 'webhooks.db'), now: Date.now, busyTimeoutMs: 10 }),
    sealingKey: Buffer.alloc(32, 1),
    destinations: { allow: ['localhost:9'], deny: [] },
    ca: () => undefined,
    log: () => undefined,
  });
  {
    using _held = hold('webhooks.db');
    const { status, retryAfter, body } = await post(`${service.url}/webhooks`, {
      url: 'https://localhost:9/hooks',
      events: ['order.created'],
    });
    expect([status, retryAfter, body.message]).toEqual([503, '2', 'The store of the service is unavailable']);
  }
  await service.close();
});

it('a locked webhooks store counts as unavailable, and works afterwards', async () => {
  const store = openSqliteStore({ file: join(folder, 'webhooks.db'), now: Date.now, busyTimeoutMs: 10 });
  {
    using _held = hold('webhooks.db');
    await expect(store.subscriptions.add(subscriptionOf('wh_1'))).rejects.toThrow(StoreUnavailable);
  }
  await store.subscriptions.add(subscriptionOf('wh_1'));
  await store.close();
});
