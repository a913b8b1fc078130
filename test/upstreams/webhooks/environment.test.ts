// What the environment may say of the webhooks service, and the sentence for what it may not.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { openSurroundings } from '../../../upstreams/webhooks/environment.ts';
import { makeSecret, sealSecret } from '../../../upstreams/webhooks/secret.ts';

const folder = mkdtempSync(join(tmpdir(), 'sundial-environment-'));
afterAll(() => rmSync(folder, { recursive: true }));
const open = (environment: Record<string, string>) =>
  openSurroundings({ SUNDIAL_DATA: folder, ...environment }, { now: Date.now, onFault: () => undefined });

it('a key, receivers of our own and addresses that nobody makes us call', async () => {
  const key = Buffer.alloc(32, 9);
  const { store, ...found } = await open({
    SUNDIAL_WEBHOOKS_KEY: key.toString('base64'),
    SUNDIAL_WEBHOOKS_ALLOW: 'localhost:4007, hooks.internal:443,',
    SUNDIAL_WEBHOOKS_DENY: '93.184.216.34',
  });
  await store.close();
  expect(found.sealingKey).toEqual(key);
  expect(found.destinations).toEqual({
    allow: ['localhost:4007', 'hooks.internal:443'],
    deny: ['93.184.216.34'],
  });
  expect(found.ca()).toBeUndefined();
});

it('a key that opens none of the secrets that are kept is refused: nothing could be delivered', async () => {
  const own = { SUNDIAL_DATA: join(folder, 'sealed') };
  const { store, sealingKey } = await open(own);
  await store.subscriptions.add({
    id: 'wh_1',
    owner: 'acme',
    url: 'https://hooks.example.org/',
    events: ['order.created'],
    signature: 'both',
    secrets: [{ sealed: sealSecret(sealingKey, makeSecret()) }],
    created: 0,
    updated: 0,
  });
  await store.close();
  await (await open(own)).store.close();
  await expect(
    open({ ...own, SUNDIAL_WEBHOOKS_KEY: Buffer.alloc(32, 9).toString('base64') }),
  ).rejects.toThrow(
    'SUNDIAL_WEBHOOKS_KEY opens none of the secrets that the store keeps: bring back the key of before',
  );
  rmSync(join(own.SUNDIAL_DATA, 'webhooks-key'));
  await expect(open(own)).rejects.toThrow(
    `${join(own.SUNDIAL_DATA, 'webhooks-key')} opens none of the secrets that the store keeps`,
  );
});

it.each([
  ['SUNDIAL_WEBHOOKS_KEY', Buffer.alloc(31).toString('base64'), 'must be 32 bytes in base64'],
  ['SUNDIAL_WEBHOOKS_STORE', 'localhost:6379', 'must be a redis:// or rediss:// URL, or left out'],
])('%s=%s is refused in a sentence', async (name, value, message) => {
  await expect(open({ [name]: value })).rejects.toThrow(`${name} ${message}`);
});
