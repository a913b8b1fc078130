// Tests of unreadable and private files of the samples: errors name the file and quote nothing.
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { loadIssuerKeys } from '../../upstreams/identity/key-file.ts';
import { openReceived } from '../../upstreams/receiver/received.ts';
import { storedSecret } from '../../upstreams/receiver/registration.ts';
import { openDatabase } from '../../upstreams/service/database.ts';
import { openSqliteStore } from '../../upstreams/webhooks/sqlite/store.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sundial-unreadable-'));
});
afterAll(() => rm(folder, { recursive: true }));

const CUT = '{"kty":"RSA","d":"private-part"!';
const WITHOUT_PRIMES = { kty: 'RSA', kid: 'x', n: 'AQAB', e: 'AQAB', d: 'private', alg: 'RS256', use: 'sig' };

it.each<[string, string, (folder: string) => unknown]>([
  ['issuer-key.json', CUT, loadIssuerKeys],
  ['issuer-key.json', JSON.stringify(WITHOUT_PRIMES), loadIssuerKeys],
  ['receiver.json', CUT, () => storedSecret(join(folder, 'receiver.json'))],
  ['receiver.db', CUT, () => openReceived(join(folder, 'receiver.db'))],
  ['webhooks.db', CUT, () => openSqliteStore({ file: join(folder, 'webhooks.db'), now: Date.now })],
  ['orders.db', CUT, () => openDatabase({ dataFolder: folder, name: 'orders.db', fill: () => undefined })],
])('the error for an unreadable %s names the file and quotes none of it', async (name, content, open) => {
  const file = join(folder, name);
  await writeFile(file, content);
  const said = await Promise.resolve(folder)
    .then(open)
    .then(
      () => '',
      (error: unknown) => String(error),
    );
  expect(said).toContain(file);
  expect(said).not.toContain('private');
});

it('databases are readable by their owner only', async () => {
  const own = await mkdtemp(join(folder, 'own-'));
  const store = openSqliteStore({ file: join(own, 'webhooks.db'), now: Date.now });
  using received = openReceived(join(own, 'receiver.db'));
  received.take({ id: 'evt_1', type: 'order.created', created: 1, data: {} }, 1_000);
  const modes = await Promise.all(
    (await readdir(own)).map(async (name) => (await stat(join(own, name))).mode & 0o777),
  );
  await store.close();
  expect(modes.length).toBeGreaterThan(2);
  expect(new Set(modes)).toEqual(new Set([0o600]));
});
