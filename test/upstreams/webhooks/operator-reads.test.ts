// Tests of the operator's view of the webhooks service: overview, metrics and readiness.
import { request as plainRequest } from 'node:http';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { attempted, failed } from '../../../upstreams/webhooks/health.ts';
import { DEFAULT_TUNING } from '../../../upstreams/webhooks/tuning.ts';
import { KNOWN, NEW, openServiceFixture } from './service-fixture.ts';

const { ask, log, service, store, begin } = await openServiceFixture();
afterAll(() => service.close());

let id: string;
beforeEach(async () => {
  ({ id } = await begin());
});

describe('operators', () => {
  it('read deliveries by state and endpoints with health, without secrets, paths or queries', async () => {
    await ask('PUT', `/webhooks/${id}`, {
      body: { ...NEW, url: 'https://hooks.example.org/s3cret?t=s3cret' },
    });
    const { json } = await ask('GET', '/admin/overview', { as: '' });
    expect(json).toMatchObject({
      store: 'sqlite',
      deliveries: { pending: expect.any(Number), delivered: 0, dead: 0 },
      endpoints: [{ id, owner: 'acme', host: 'hooks.example.org', health: { breaker: 'closed' } }],
    });
    expect(JSON.stringify(json)).not.toContain('s3cret');
    const deliveries = await ask('GET', `/admin/deliveries?subscription=${id}`);
    expect(deliveries.json).toEqual({ total: 0, data: [] });
  });

  it('read the last and next attempt of each endpoint, failing endpoints first', async () => {
    const { json: other } = await ask('POST', '/webhooks', { body: KNOWN });
    // Its breaker is open for an hour, so that no attempt is made.
    const at = Date.now();
    await store.health.change(other.id, (before) =>
      attempted(before, failed(before, at, DEFAULT_TUNING.rules, 3_600_000), {
        at,
        outcome: 'failed',
        status: 503,
      }),
    );
    await ask('POST', `/webhooks/${other.id}/test`, { body: {} });
    const { json } = await ask('GET', '/admin/overview');
    expect(json.endpoints_total).toBe(2);
    expect(json.endpoints).toMatchObject([
      {
        id: other.id,
        health: {
          breaker: 'open',
          failures: 1,
          last_attempt: { at: Math.floor(at / 1000), outcome: 'failed', status: 503 },
        },
        deliveries: { pending: 1, dead: 0 },
        next_attempt: expect.any(Number),
      },
      { id, health: { failures: 0 } },
    ]);
    expect(json.endpoints[1]).not.toHaveProperty('next_attempt');
  });

  it('reach it only by names of this machine, and another Host gets 421', async () => {
    const statusFor = (host: string, path: string) =>
      new Promise((resolve, reject) => {
        const asked = plainRequest(`${service.url}${path}`, { headers: { host } }, (answer) => {
          answer.resume();
          resolve(answer.statusCode);
        });
        asked.once('error', reject).end();
      });
    for (const path of ['/admin/overview', '/metrics']) {
      expect(await statusFor('evil.example', path)).toBe(421);
      expect(await statusFor(`localhost:${service.port}`, path)).toBe(200);
    }
  });

  it('read the metrics and the readiness of the store', async () => {
    await ask('POST', '/events', { body: { id: 'evt_m', type: 'order.created', created: 1, data: {} } });
    const text = await (await fetch(`${service.url}/metrics`)).text();
    expect(text).toContain('sundial_webhook_events_total{event="order.created",known="no"} 1');
    // The number of series does not depend on the types of events.
    await ask('POST', '/events', { body: { id: 'evt_n', type: 'a.canary', created: 1, data: {} } });
    const more = await (await fetch(`${service.url}/metrics`)).text();
    expect(more).toMatch(/^sundial_webhook_events_total\{event="other",known="no"\} [1-9]/m);
    expect(more).not.toContain('canary');
    expect(text).toMatch(/^sundial_webhook_deliveries_kept\{state="pending"\} \d+$/m);
    expect((await ask('GET', '/readyz')).status).toBe(200);
    expect(log.filter((line) => 'error' in line)).toEqual([]);
  });
});
