// Tests of the environment of the webhooks service: valid values, and the message for invalid ones.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { openEnvironment } from '../../../upstreams/webhooks/environment.ts';

const folder = mkdtempSync(join(tmpdir(), 'sundial-environment-'));
afterAll(() => rmSync(folder, { recursive: true }));
const open = (environment: Record<string, string>) =>
  openEnvironment({ SUNDIAL_DATA: folder, ...environment }, { now: Date.now, onFault: () => undefined });

it('reads a key, own receivers and denied addresses', async () => {
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

it('reads the certificates of several receivers once they exist', async () => {
  const files = ['first.crt', 'second.crt', 'later.crt'].map((name) => join(folder, name));
  for (const [index, file] of files.slice(0, 2).entries()) writeFileSync(file, `certificate ${index}`);
  const { store, ca } = await open({ SUNDIAL_WEBHOOKS_CA: files.join(',') });
  await store.close();
  expect(ca()).toBe('certificate 0\ncertificate 1');
});

it.each([
  [undefined, undefined],
  ['0.0.0.0:9903', { host: '0.0.0.0', port: 9903 }],
  ['[::1]:9903', { host: '::1', port: 9903 }],
])('SUNDIAL_WEBHOOKS_METRICS=%s opens a listener for metrics only', async (written, expected) => {
  const found = await open(written === undefined ? {} : { SUNDIAL_WEBHOOKS_METRICS: written });
  await found.store.close();
  expect(found.metrics).toEqual(expected);
});

it.each([
  ['SUNDIAL_WEBHOOKS_ALLOW', 'https://localhost:4443', 'must be host:port, separated by commas'],
  ['SUNDIAL_WEBHOOKS_KEY', Buffer.alloc(31).toString('base64'), 'must be 32 bytes in base64'],
  ['SUNDIAL_WEBHOOKS_METRICS', '9903', 'must be host:port, such as 0.0.0.0:9903, or unset'],
  ['SUNDIAL_WEBHOOKS_METRICS', ':9903', 'must be host:port'],
  ['SUNDIAL_WEBHOOKS_METRICS', '0.0.0.0:99999', 'must be host:port'],
  ['SUNDIAL_WEBHOOKS_STORE', 'localhost:6379', 'must be a redis:// or rediss:// URL, or unset'],
])('%s=%s is refused with a message', async (name, value, message) => {
  await expect(open({ [name]: value })).rejects.toThrow(`${name} ${message}`);
});
