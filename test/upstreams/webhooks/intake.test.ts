// Tests of the intake, and of a start with another key than that of the store.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { openSqliteStore } from '../../../upstreams/webhooks/sqlite/store.ts';
import { startWebhooks } from '../../../upstreams/webhooks/webhooks.ts';
import { HOOK, NEW, openServiceFixture } from './service-fixture.ts';

const folder = mkdtempSync(join(tmpdir(), 'sundial-webhooks-'));
afterAll(() => rmSync(folder, { recursive: true }));
const { ask, store, begin, service } = await openServiceFixture();
afterAll(() => service.close());

beforeEach(begin);

describe('the intake', () => {
  const event = (more: object = {}) => ({
    id: `evt_${crypto.randomUUID()}`,
    type: 'payment.completed',
    created: 1_795_132_800,
    data: { amount: 1250 },
    ...more,
  });

  it('responds with 202 and makes a delivery for each subscription to the event, once per id', async () => {
    await ask('POST', '/webhooks', { body: { url: HOOK, events: ['payment.completed'] }, as: 'globex' });
    await ask('POST', '/webhooks', { body: { url: HOOK, events: ['order.created'] } });
    const body = event();
    for (let time = 0; time < 2; time += 1) {
      expect(await ask('POST', '/events', { body })).toMatchObject({ status: 202, json: { id: body.id } });
    }
    const made = await Promise.all(
      (await store.subscriptions.all()).map((each) =>
        store.deliveries.page(each.id, { offset: 0, limit: 9 }),
      ),
    );
    expect(made.map(({ total }) => total)).toEqual([1, 1, 0]);
    expect((await store.event(body.id))?.body).toBe(JSON.stringify(body));
  });

  it('keeps the text unchanged, numbers beyond 2^53 included', async () => {
    const text = '{ "id":"evt_exact", "type":"a.b", "created":1, "data":{"n":12345678901234567890} }';
    expect((await ask('POST', '/events', { body: text })).status).toBe(202);
    expect((await store.event('evt_exact'))?.body).toBe(text);
  });

  it.each([
    ['no object', []],
    ['no id', event({ id: undefined })],
    ['a dot in the id', event({ id: 'evt.1' })],
    ['a long id', event({ id: 'x'.repeat(101) })],
    ['no type', event({ type: 'payment' })],
    ['milliseconds', event({ created: 1_795_132_800_000 })],
    ['a date', event({ created: '2026-11-20' })],
    ['no data', event({ data: undefined })],
    ['data that is a list', event({ data: [] })],
    ['more members', event({ extra: 1 })],
  ])('%s is 400', async (_what, body) => {
    expect(await ask('POST', '/events', { body })).toMatchObject({
      status: 400,
      json: { error: 'Bad Request' },
    });
  });
});

describe('a service with a lost key', () => {
  it('reports at start how many secrets are lost, and what to do', async () => {
    const file = join(folder, 'lost.db');
    const begin = async (sealingKey: Buffer) => {
      const lines: object[] = [];
      const started = await startWebhooks({
        port: 0,
        store: openSqliteStore({ file, now: Date.now }),
        sealingKey,
        destinations: { allow: ['localhost:9'], deny: [] },
        ca: () => undefined,
        log: (line) => lines.push(line),
      });
      return { url: started.url, lines, [Symbol.asyncDispose]: started.close };
    };
    {
      await using before = await begin(Buffer.alloc(32, 1));
      const headers = { 'x-consumer-id': 'acme', 'content-type': 'application/json' };
      await fetch(`${before.url}/webhooks`, { method: 'POST', headers, body: JSON.stringify(NEW) });
      expect(before.lines).toEqual([]);
    }
    await using after = await begin(Buffer.alloc(32, 2));
    await expect
      .poll(() => after.lines)
      .toEqual([
        {
          event: 'secrets_lost',
          subscriptions: 1,
          advice: expect.stringContaining('restore the file webhooks-key or SUNDIAL_WEBHOOKS_KEY'),
        },
      ]);
  });
});
