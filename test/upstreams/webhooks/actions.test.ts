// Tests of the actions on a subscription: rotation, test, enabling and replay.
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { abandoned } from '../../../upstreams/webhooks/delivery.ts';
import { KNOWN, NEW, openServiceFixture } from './service-fixture.ts';

const { ask, service, store, begin } = await openServiceFixture();
afterAll(() => service.close());

let id: string;
let secret: string;
beforeEach(async () => {
  ({ id, secret } = await begin());
});

describe('the actions of a subscription', () => {
  it('WH-2: rotate-secret returns a new secret; both sign for the requested time', async () => {
    const rotated = await ask('POST', `/webhooks/${id}/rotate-secret`, { body: { overlap: 60 } });
    expect(rotated.status).toBe(200);
    expect(rotated.json.secret).toMatch(/^whsec_/);
    expect(rotated.headers.get('cache-control')).toBe('no-store');
    expect(rotated.json.secret).not.toBe(secret);
    const left = rotated.json.previous_secrets_until - rotated.json.updated;
    expect(left).toBe(60);
    expect((await store.subscriptions.read(id))?.secrets).toHaveLength(2);
    const { json: read } = await ask('GET', `/webhooks/${id}`);
    expect((await ask('PUT', `/webhooks/${id}`, { body: read })).status).toBe(200);
    await ask('POST', `/webhooks/${id}/rotate-secret`);
    expect((await store.subscriptions.read(id))?.secrets).toHaveLength(3);
    const atOnce = await ask('POST', `/webhooks/${id}/rotate-secret`, { body: { overlap: 0 } });
    expect(atOnce.json).not.toHaveProperty('previous_secrets_until');
    expect((await store.subscriptions.read(id))?.secrets).toHaveLength(1);
  });

  it('WH-2: rotate-secret refuses unknown members, such as a misspelt "overlap"', async () => {
    const slipped = await ask('POST', `/webhooks/${id}/rotate-secret`, { body: { overlop: 0 } });
    expect(slipped).toMatchObject({
      status: 400,
      json: { message: '"overlop" is unknown; known: overlap' },
    });
    expect((await store.subscriptions.read(id))?.secrets).toHaveLength(1);
  });

  it('test sends an event without a subscription to it, and the log shows the result', async () => {
    const made = await ask('POST', `/webhooks/${id}/test`);
    expect(made).toMatchObject({ status: 201, json: { type: 'webhook.test', state: 'pending' } });
    const at = `/webhooks/${id}/deliveries/${made.json.id}`;
    expect(new URL(made.headers.get('location') ?? '', `${service.url}/webhooks/${id}/test`).pathname).toBe(
      at,
    );
    const attempts = async () => (await ask('GET', at)).json.attempts;
    await expect.poll(attempts).toMatchObject([{ outcome: 'failed', duration_ms: expect.any(Number) }]);
    const pending = await ask('GET', `/webhooks/${id}/deliveries?state=pending&fields=id`);
    expect(pending.json).toMatchObject({ data: [{ id: made.json.id }], pagination: { total: 1 } });
    const delivered = await ask('GET', `/webhooks/${id}/deliveries?state=delivered`);
    expect(delivered.json.pagination.total).toBe(0);
    expect((await ask('GET', `/webhooks/${id}/health`)).json).toMatchObject({
      breaker: 'closed',
      failures: 1,
    });
  });

  it('test and the replay of one delivery are limited to thirty a minute per consumer', async () => {
    const as = 'initech';
    const mine = (await ask('POST', '/webhooks', { as, body: NEW })).json.id;
    const test = `/webhooks/${mine}/test`;
    const replay = `/webhooks/${mine}/deliveries/${(await ask('POST', test, { as })).json.id}/replay`;
    const statuses: number[] = [];
    for (let turn = 0; turn < 29; turn += 1)
      statuses.push((await ask('POST', turn % 2 === 0 ? test : replay, { as })).status);
    expect(statuses).not.toContain(429);
    for (const path of [replay, test]) {
      const held = await ask('POST', path, { as });
      expect(held).toMatchObject({ status: 429, json: { error: 'Too Many Requests' } });
      expect(Number(held.headers.get('retry-after'))).toBe(held.json.retryAfter);
      expect(held.json.retryAfter).toBeLessThanOrEqual(60);
    }
    expect((await ask('GET', `/webhooks/${mine}/health`, { as })).status).toBe(200);
    expect((await ask('POST', `/webhooks/${id}/test`)).status).toBe(201);
  });

  it('enable, and another url, reset the failures', async () => {
    const fail = () =>
      store.health.change(id, (each) => ({
        ...each,
        failures: 30,
        failingSince: 0,
        openUntil: Date.now() * 2,
      }));
    const failures = async () => (await ask('GET', `/webhooks/${id}/health`)).json.failures;
    await fail();
    await ask('PATCH', `/webhooks/${id}`, { body: { events: ['order.created'] } });
    expect(await failures()).toBe(30);
    await ask('PATCH', `/webhooks/${id}`, { body: { url: KNOWN.url } });
    expect(await failures()).toBe(0);
    await fail();
    await ask('POST', `/webhooks/${id}/enable`);
    expect(await failures()).toBe(0);
  });

  it('replay restarts a finished delivery, and is 409 for pending or disabled ones', async () => {
    const { json } = await ask('POST', `/webhooks/${id}/test`);
    const at = `/webhooks/${id}/deliveries/${json.id}`;
    expect((await ask('POST', `${at}/replay`)).status).toBe(409);
    await expect.poll(async () => (await ask('GET', at)).json.attempts).toHaveLength(1);
    await store.deliveries.change(json.id, (each) => ({
      ...each,
      state: 'dead',
      death: 'attempts_exhausted',
    }));
    expect((await ask('GET', at)).json).toMatchObject({ state: 'dead', reason: 'attempts_exhausted' });
    await store.subscriptions.change(id, (each) => ({ ...each, disabled: { reason: 'gone', at: 0 } }));
    expect((await ask('POST', `${at}/replay`)).json.message).toContain('/enable');
    expect((await ask('GET', `/webhooks/${id}`)).json).toMatchObject({
      status: 'disabled',
      disabled: { reason: 'gone' },
    });
    expect((await ask('POST', `/webhooks/${id}/enable`)).json).toMatchObject({ status: 'enabled' });
    const again = await ask('POST', `${at}/replay`);
    expect(again).toMatchObject({ status: 200, json: { state: 'pending', replays: 1, event: json.event } });
    expect(again.json).not.toHaveProperty('reason');
  });

  it.each([
    ['POST', '/webhooks/:id/replay', { since: 1 }],
    ['POST', '/admin/replay', { subscription: ':id', since: 1 }],
    ['POST', '/admin/replay', { subscription: ':id', delivery: ':delivery' }],
  ])('dead letters are replayed by %s %s %j', async (method, path, written) => {
    const { json } = await ask('POST', `/webhooks/${id}/test`);
    await expect
      .poll(async () => (await ask('GET', `/webhooks/${id}/deliveries/${json.id}`)).json.attempts)
      .toHaveLength(1);
    await store.deliveries.change(json.id, (each) => abandoned(each, 'attempts_exhausted', Date.now()));
    const body = JSON.stringify(written).replace(':id', id).replace(':delivery', json.id);
    expect(await ask(method, path.replace(':id', id), { body })).toMatchObject({
      status: 200,
      json: { replayed: 1, left: 0 },
    });
    expect(await store.deliveries.read(json.id)).toMatchObject({ state: 'pending', round: 1 });
  });
});
