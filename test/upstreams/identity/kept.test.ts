// Tests of parts of the sample issuer: concurrent redemption, allowed redirect URIs, and counted attempts.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { createAdapter } from '../../../upstreams/identity/adapter.ts';
import { CLIENTS } from '../../../upstreams/identity/clients.ts';
import { clientMetadata } from '../../../upstreams/identity/registration.ts';
import { openStore } from '../../../upstreams/identity/store.ts';
import { createAttempts } from '../../../upstreams/service/attempts.ts';

const NOW = Date.UTC(2026, 10, 20);
const folder = mkdtempSync(join(tmpdir(), 'sundial-kept-'));
const [one, two] = [openStore(folder), openStore(folder)];
afterAll(() => {
  one.close();
  two.close();
  rmSync(folder, { recursive: true });
});

it.each(['AuthorizationCode', 'RefreshToken'])(
  'OAU-4, OAU-7: if two processes read the same unused %s, the second use fails and revokes the grant',
  async (model) => {
    const [mine, theirs] = [one, two].map((store) => createAdapter(store, () => NOW)(model));
    await mine?.upsert('presented', { grantId: `grant of ${model}` }, 60);
    await theirs?.upsert('of the same grant', { grantId: `grant of ${model}` }, 60);
    expect((await mine?.find('presented'))?.consumed).toBeUndefined();
    expect((await theirs?.find('presented'))?.consumed).toBeUndefined();
    await mine?.consume('presented');
    await expect(theirs?.consume('presented')).rejects.toThrow('invalid_grant');
    expect(await mine?.find('of the same grant')).toBeUndefined();
  },
);

it.each([
  ['http://shop.example/callback', 'web'],
  ['http://127.0.0.1/callback', 'web'],
  ['http://127.0.0.1.evil.example/callback', 'native'],
  ['http://localhost/callback', 'native'],
  ['com.example.app:/callback', 'native'],
] as const)('OAU-2: no code is sent to %s of a %s client', (uri, kind) => {
  const [client] = CLIENTS.filter((each) => each.kind === kind);
  if (client === undefined) throw new Error('there is none');
  expect(() => clientMetadata({ ...client, redirectUris: [...client.redirectUris, uri] })).toThrow(
    `must not use the redirect URI ${uri}`,
  );
});

it('OAU-9: the oldest key is evicted', () => {
  const attempts = createAttempts({ most: 1, windowMs: 60_000, now: () => NOW });
  attempts.take('oldest');
  for (let count = 0; count < 9_999; count += 1) attempts.take(String(count));
  expect(attempts.take('0')).toBe(60);
  expect(attempts.take('oldest')).toBe(60);
  attempts.take('one more');
  expect(attempts.take('oldest')).toBeUndefined();
});
