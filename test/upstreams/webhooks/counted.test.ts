// What the webhooks service tells of what waits and of what was given up, so that somebody can be woken by it.
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Service } from '../../../upstreams/service/listen.ts';
import { openSqliteStore } from '../../../upstreams/webhooks/sqlite/store.ts';
import type { WebhookStore } from '../../../upstreams/webhooks/store.ts';
import { startWebhooks } from '../../../upstreams/webhooks/webhooks.ts';

const NOW = 1_795_132_800_000;
const log: object[] = [];
/** Of a service that has been busy: the oldest that is due has been so for a minute and a half. */
let due: number | undefined;
let store: WebhookStore;
let service: Service;
beforeAll(async () => {
  const real = openSqliteStore({ file: ':memory:', now: () => NOW });
  store = { ...real, deliveries: { ...real.deliveries, oldestDue: async () => due } };
  service = await startWebhooks({
    port: 0,
    store,
    sealingKey: Buffer.alloc(32, 1),
    destinations: { allow: ['localhost:9'], deny: [] },
    ca: () => undefined,
    tuning: { nextDelay: () => undefined },
    now: () => NOW,
    log: (line) => log.push(line),
  });
});
afterAll(() => service.close());

const metric = async (name: string): Promise<number> => {
  const text = await (await fetch(`${service.url}/metrics`)).text();
  return Number(new RegExp(`^sundial_webhooks_${name} (\\S+)$`, 'm').exec(text)?.[1]);
};

it('how long the oldest that is due has waited, in seconds, and since when', async () => {
  const overview = async () => (await (await fetch(`${service.url}/admin/overview`)).json()) as object;
  expect(await metric('lag_seconds')).toBe(0);
  expect(await overview()).not.toHaveProperty('oldest_due');
  due = NOW - 90_000;
  expect(await metric('lag_seconds')).toBe(90);
  expect(await overview()).toMatchObject({ oldest_due: (NOW - 90_000) / 1_000 });
});

it('what was given up, and in the log which', async () => {
  const post = async (path: string, body: object) => {
    const headers = { 'x-consumer-id': 'acme', 'content-type': 'application/json' };
    const sent = { method: 'POST', headers, body: JSON.stringify(body) };
    return (await (await fetch(`${service.url}${path}`, sent)).json()) as { id: string };
  };
  expect(await metric('dead_letters_total')).toBe(0);
  const { id } = await post('/webhooks', { url: 'https://localhost:9/hooks', events: ['order.created'] });
  await post(`/webhooks/${id}/test`, {});
  await expect.poll(() => metric('dead_letters_total')).toBe(1);
  expect(log).toContainEqual(
    expect.objectContaining({ event: 'dead_letter', subscription: id, type: 'webhook.test' }),
  );
});
