// Tests of the receiver's subscription at the real webhooks service, to all events of samples and versions.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { register, storedSecret } from '../../../upstreams/receiver/registration.ts';
import { EVENT_TYPES, OWN_TYPES } from '../../../upstreams/webhooks/event-types.ts';
import { loadSealingKey } from '../../../upstreams/webhooks/secret.ts';
import { openSqliteStore } from '../../../upstreams/webhooks/sqlite/store.ts';
import { startWebhooks } from '../../../upstreams/webhooks/webhooks.ts';

const URL_OF_HOOKS = 'https://localhost:4007/hooks';
const folder = mkdtempSync(join(tmpdir(), 'sundial-subscribed-'));
const file = join(folder, 'receiver.json');
const stack = new AsyncDisposableStack();
let service = '';

beforeAll(async () => {
  const webhooks = await startWebhooks({
    ...{ port: 0, tuning: {}, log: () => undefined, ca: () => '' },
    store: openSqliteStore({ file: ':memory:', now: Date.now }),
    sealingKey: loadSealingKey(folder),
    destinations: { allow: [new URL(URL_OF_HOOKS).host], deny: [] },
  });
  stack.defer(() => webhooks.close());
  service = webhooks.url;
});
afterAll(async () => {
  await stack.disposeAsync();
  rmSync(folder, { recursive: true });
});

interface Shown {
  readonly id: string;
  readonly secret: string;
  readonly events: readonly string[];
}

async function ask<Body = Shown>(method: string, path: string, body?: object): Promise<Body> {
  const answer = await fetch(`${service}/webhooks${path}`, {
    method,
    headers: { 'x-consumer-id': 'sample-receiver', 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return (await answer.json()) as Body;
}
const all = async () => (await ask<{ readonly data: readonly Shown[] }>('GET', '')).data;
const registered = () => register({ service, url: URL_OF_HOOKS, file, signal: AbortSignal.timeout(20_000) });

it('subscribes to every event of the samples and of versions, and reuses the subscription', async () => {
  const secret = await registered();
  expect(storedSecret(file)).toBe(secret);
  expect(await registered()).toBe(secret);
  const own: readonly string[] = Object.values(OWN_TYPES);
  const [made, ...more] = await all();
  expect(more).toEqual([]);
  expect(made?.events.toSorted()).toEqual(EVENT_TYPES.filter((type) => !own.includes(type)).toSorted());
});

it('adds missing events to an earlier subscription and keeps its secret', async () => {
  const [first] = await all();
  const { id, secret } = await ask('POST', '', { url: URL_OF_HOOKS, events: ['order.created'] });
  writeFileSync(file, JSON.stringify({ id, secret }));
  expect(await registered()).toBe(secret);
  expect((await ask('GET', `/${id}`)).events).toEqual(first?.events);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ id, secret });
});
