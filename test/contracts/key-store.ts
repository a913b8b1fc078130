// The contract of every KeyStore.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type KeyRecord,
  type KeyStore,
  makeKey,
  newKeyId,
  newSecret,
  revokeKey,
  rotateKey,
} from '../../gateway/policy/authentication/key-record.ts';
import type { LastingUnderTest } from './lasting-stores.ts';

export function keyRecord(more: Partial<KeyRecord> = {}): KeyRecord {
  const id = newKeyId();
  const given = { id, consumer: 'acme', scopes: ['orders:read'], contact: 'api@acme.example', expires: 5000 };
  return { ...makeKey(given, newSecret(id).digest, 1000), ...more };
}

export function keyStoreContract(name: string, open: () => Promise<LastingUnderTest>): void {
  describe(`key store: ${name}`, () => {
    let store: LastingUnderTest;
    beforeAll(async () => {
      store = await open();
    });
    afterAll(() => store.close());
    const keys = (gateway: 0 | 1 = 0): KeyStore => store.gateways()[gateway].keys;

    it('an added key is found unchanged, also on the other gateway and after a restart', async () => {
      const record = keyRecord();
      // Both gateways have cached that the key does not exist.
      expect(await keys(0).find(record.id)).toEqual({ kind: 'unknown' });
      expect(await keys(1).find(record.id)).toEqual({ kind: 'unknown' });
      expect(await keys(0).replace(undefined, record)).toBe(true);
      expect(await keys(0).find(record.id)).toEqual({ kind: 'found', record });
      await store.refresh();
      expect(await keys(1).find(record.id)).toEqual({ kind: 'found', record });
      await store.restart();
      for (const gateway of [0, 1] as const) {
        expect(await keys(gateway).find(record.id)).toEqual({ kind: 'found', record });
        expect(await keys(gateway).read(record.id)).toEqual(record);
      }
    });

    it('a cached key is found without a call', async () => {
      const record = keyRecord();
      await keys().replace(undefined, record);
      await keys().find(record.id);
      expect(keys().find(record.id)).toEqual({ kind: 'found', record });
    });

    it('a change is in force here at once, and on the other gateway after its next refresh', async () => {
      const record = keyRecord();
      await keys(0).replace(undefined, record);
      await store.refresh();
      await keys(1).find(record.id);
      const rotated = rotateKey(record, newSecret(record.id).digest, { now: 2000, overlapMs: 1000 });
      expect(await keys(0).replace(record, rotated)).toBe(true);
      expect(await keys(0).find(record.id)).toEqual({ kind: 'found', record: rotated });
      const revoked = revokeKey(rotated, 3000);
      expect(await keys(0).replace(rotated, revoked)).toBe(true);
      await store.refresh();
      expect(await keys(1).find(record.id)).toEqual({ kind: 'found', record: revoked });
    });

    it('one of two concurrent changes of a record succeeds', async () => {
      const record = keyRecord();
      expect(await keys().replace(undefined, record)).toBe(true);
      expect(await keys().replace(undefined, keyRecord({ id: record.id }))).toBe(false);
      const changes = [2000, 3000].map((at) => keys().replace(record, revokeKey(record, at)));
      expect((await Promise.all(changes)).toSorted()).toEqual([false, true]);
    });

    it('lists every key, the oldest first, revoked ones included', async () => {
      const [older, newer] = [keyRecord({ created: 10 }), keyRecord({ created: 20, revoked: 30 })];
      for (const record of [newer, older]) await keys().replace(undefined, record);
      await store.refresh();
      const list = await keys(1).list();
      expect(list.filter(({ created }) => created < 1000)).toEqual([older, newer]);
    });
  });
}
