// Files of the samples that hold something else: what is said names the file, and quotes nothing of it.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { loadIssuerKeys } from '../../upstreams/identity/key-file.ts';
import { openReceived } from '../../upstreams/receiver/received.ts';
import { keptSecret } from '../../upstreams/receiver/registration.ts';
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
  ['receiver.json', CUT, () => keptSecret(join(folder, 'receiver.json'))],
  ['receiver.db', CUT, () => openReceived(join(folder, 'receiver.db'))],
  ['webhooks.db', CUT, () => openSqliteStore({ file: join(folder, 'webhooks.db'), now: Date.now })],
  ['orders.db', CUT, () => openDatabase({ dataFolder: folder, name: 'orders.db', fill: () => undefined })],
])('%s with %s', async (name, content, open) => {
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
