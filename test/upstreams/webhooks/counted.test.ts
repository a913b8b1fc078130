// Tests of the metrics and overview of the webhooks service for alerting: waiting and dead deliveries.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { EVENT_TYPES } from '../../../upstreams/webhooks/event-types.ts';
import { createMetrics } from '../../../upstreams/webhooks/metrics.ts';
import { openSqliteStore } from '../../../upstreams/webhooks/sqlite/store.ts';
import type { WebhookStore } from '../../../upstreams/webhooks/store.ts';
import { startWebhooks, type WebhooksService } from '../../../upstreams/webhooks/webhooks.ts';

const NOW = 1_795_132_800_000;
const log: object[] = [];
/** Simulates a busy service: the oldest due delivery has waited for a minute and a half. */
let due: number | undefined;
let store: WebhookStore;
let service: WebhooksService;
beforeAll(async () => {
  const real = openSqliteStore({ file: ':memory:', now: () => NOW });
  store = { ...real, deliveries: { ...real.deliveries, oldestDue: async () => due } };
  service = await startWebhooks({
    port: 0,
    store,
    sealingKey: Buffer.alloc(32, 1),
    destinations: { allow: ['localhost:9'], deny: [] },
    ca: () => undefined,
    metrics: { port: 0 },
    tuning: { nextDelay: ({ attempt }) => (attempt === 1 ? 0 : undefined) },
    now: () => NOW,
    log: (line) => log.push(line),
  });
});
afterAll(() => service.close());

const metric = async (name: string): Promise<number> => {
  const text = await (await fetch(`${service.url}/metrics`)).text();
  return Number(new RegExp(`^sundial_webhook_${RegExp.escape(name)} (\\S+)$`, 'm').exec(text)?.[1]);
};

it('the lag is the waiting time of the oldest due delivery, in seconds', async () => {
  const overview = async () => (await (await fetch(`${service.url}/admin/overview`)).json()) as object;
  expect(await metric('lag_seconds')).toBe(0);
  expect(await overview()).not.toHaveProperty('oldest_due');
  due = NOW - 90_000;
  expect(await metric('lag_seconds')).toBe(90);
  expect(await overview()).toMatchObject({ oldest_due: (NOW - 90_000) / 1_000 });
});

const post = async (path: string, body: object) => {
  const headers = { 'x-consumer-id': 'acme', 'content-type': 'application/json' };
  const sent = { method: 'POST', headers, body: JSON.stringify(body) };
  return (await (await fetch(`${service.url}${path}`, sent)).json()) as { id: string };
};
const deliveries = (event: string, result: string) =>
  metric(`deliveries_total{event="${event}",result="${result}"}`);

it('attempts are counted by result, dead letters are counted and logged with their ids', async () => {
  expect(await metric('dead_letters_total')).toBe(0);
  const { id } = await post('/webhooks', { url: 'https://localhost:9/hooks', events: ['order.created'] });
  await post(`/webhooks/${id}/test`, {});
  await expect.poll(() => deliveries('webhook.test', 'exhausted')).toBe(1);
  expect(await deliveries('webhook.test', 'retried')).toBe(1);
  expect(await deliveries('webhook.test', 'delivered')).toBe(0);
  expect(await metric('dead_letters_total')).toBe(1);
  expect(log).toContainEqual(
    expect.objectContaining({ event: 'dead_letter', subscription: id, type: 'webhook.test' }),
  );
});

it('every known type and result has a series from the start, and other types have none', async () => {
  const metrics = createMetrics(store, () => NOW);
  const series = async () =>
    (await metrics.text()).split('\n').filter((line) => line.startsWith('sundial_webhook_deliveries_total{'));
  const before = await series();
  expect(before).toHaveLength(3 * (EVENT_TYPES.length + 2));
  for (const line of before) expect(line).toMatch(/\{event="[\w.]+",result="\w+"\} 0$/);
  const failed = { at: NOW, outcome: 'failed', message: '', durationMs: 1 } as const;
  const dead = { type: 'order.created', state: 'dead' } as const;
  metrics.countAttempt({ type: 'a.canary', state: 'pending' }, failed);
  metrics.countAttempt({ type: 'order.created', state: 'delivered' }, { ...failed, outcome: 'delivered' });
  // A 410 is not exhausted, and neither is an attempt that another process has overtaken.
  metrics.countAttempt({ ...dead, death: 'subscription_disabled' }, { ...failed, outcome: 'gone' });
  metrics.countAttempt({ type: 'order.created', state: 'delivered' }, failed);
  metrics.countAttempt({ ...dead, death: 'attempts_exhausted' }, failed);
  const after = await series();
  expect(after.filter((line) => !before.includes(line)).toSorted()).toEqual([
    'sundial_webhook_deliveries_total{event="order.created",result="delivered"} 1',
    'sundial_webhook_deliveries_total{event="order.created",result="exhausted"} 1',
    'sundial_webhook_deliveries_total{event="other",result="retried"} 1',
  ]);
});

it('the metrics listener accepts any host and serves only metrics', async () => {
  const url = service.metricsUrl;
  const page = await fetch(`${url}/metrics`, { headers: { origin: 'https://elsewhere.example' } });
  expect([page.status, await page.text()]).toEqual([
    200,
    expect.stringContaining('\nsundial_webhook_lag_seconds '),
  ]);
  for (const path of ['/', '/webhooks', '/events', '/admin/overview', '/readyz', '/metrics/'])
    expect([path, (await fetch(`${url}${path}`)).status]).toEqual([path, 404]);
  expect((await fetch(`${url}/metrics`, { method: 'POST' })).status).toBe(405);
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
});

it('the error for a taken port names its variable', async () => {
  const port = Number(new URL(service.metricsUrl ?? '').port);
  const another = openSqliteStore({ file: ':memory:', now: () => NOW });
  const starting = startWebhooks({
    port: 0,
    store: another,
    sealingKey: Buffer.alloc(32, 1),
    destinations: { allow: [], deny: [] },
    ca: () => undefined,
    metrics: { port },
    log: () => undefined,
  });
  await expect(starting).rejects.toThrow(
    `the metrics listener cannot use port ${port} (EADDRINUSE); SUNDIAL_WEBHOOKS_METRICS moves it`,
  );
  await another.close();
});
