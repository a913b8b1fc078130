// The contract of every AnnouncedStore.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AnnouncedStore } from '../../gateway/policy/lifecycle/announcement-store.ts';
import type { LastingUnderTest } from './lasting-stores.ts';

const LONG_MS = 600_000;

export function announcedStoreContract(name: string, open: () => Promise<LastingUnderTest>): void {
  describe(`announced store: ${name}`, () => {
    let store: LastingUnderTest;
    beforeAll(async () => {
      store = await open();
    });
    afterAll(() => store.close());
    const announced = (gateway: 0 | 1 = 0): AnnouncedStore => store.gateways()[gateway].announced;
    const newId = () => `orders/v1/sunset-30d/${randomUUID()}`;

    it('an id that was not announced is not found', async () => {
      expect(await announced().find([])).toEqual([]);
      expect(await announced().find([newId(), newId()])).toEqual([undefined, undefined]);
    });

    it('finds many ids in one call', async () => {
      const ids = Array.from({ length: 20_000 }, (_, index) => `orders/v1/sunset-30d/${index}`);
      const last = newId();
      await announced().keep(last, 'sent');
      const texts = await announced().find([...ids, last]);
      expect([texts.length, texts.at(-1), texts.filter((text) => text !== undefined).length]).toEqual([
        ids.length + 1,
        'sent',
        1,
      ]);
    });

    it('one of many concurrent claims gets the lease, and its owner can claim it again', async () => {
      const id = newId();
      const claims = await Promise.all(
        Array.from({ length: 50 }, (_, index) =>
          announced(index % 2 === 0 ? 0 : 1).claim(id, `owner ${index}`, LONG_MS),
        ),
      );
      const winners = claims.flatMap(({ state }, index) => (state === 'claimed' ? [index] : []));
      expect(winners).toHaveLength(1);
      expect(claims.filter(({ state }) => state === 'held')).toHaveLength(49);
      expect(await announced(1).claim(id, `owner ${winners[0]}`, LONG_MS)).toEqual({ state: 'claimed' });
      expect(await announced().find([id])).toEqual([undefined]);
    });

    it('a stored announcement cannot be claimed, on every gateway and after a restart', async () => {
      const [id, other] = [newId(), newId()];
      await announced(0).claim(id, 'a', LONG_MS);
      expect(await announced(0).keep(id, 'sent')).toBe('sent');
      expect(await announced(1).claim(id, 'b', LONG_MS)).toEqual({ state: 'kept', text: 'sent' });
      expect(await announced(1).find([other, id])).toEqual([undefined, 'sent']);
      await store.restart();
      expect(await announced(0).claim(id, 'a', LONG_MS)).toEqual({ state: 'kept', text: 'sent' });
      expect(await announced(0).keep(id, 'sent again')).toBe('sent');
    });

    it('the first text is stored, also if it is empty', async () => {
      const [id, empty] = [newId(), newId()];
      const texts = await Promise.all([announced(0).keep(id, 'a'), announced(1).keep(id, 'b')]);
      expect(new Set(texts).size).toBe(1);
      expect(await announced().keep(empty, '')).toBe('');
      expect(await announced(1).claim(empty, 'a', LONG_MS)).toEqual({ state: 'kept', text: '' });
    });

    it('only its owner can release a claim', async () => {
      const id = newId();
      await announced(0).claim(id, 'a', LONG_MS);
      await announced(1).release(id, 'b');
      expect(await announced(1).claim(id, 'b', LONG_MS)).toEqual({ state: 'held' });
      await announced(0).release(id, 'a');
      expect(await announced(1).claim(id, 'b', LONG_MS)).toEqual({ state: 'claimed' });
      await announced(1).keep(id, 'sent');
      await announced(1).release(id, 'b');
      expect(await announced(0).find([id])).toEqual(['sent']);
    });

    it('a claim whose owner was killed expires', async () => {
      const id = newId();
      await announced(0).claim(id, 'killed', 1);
      await expect.poll(() => announced(1).claim(id, 'b', LONG_MS)).toEqual({ state: 'claimed' });
      expect(await announced(0).claim(id, 'killed', LONG_MS)).toEqual({ state: 'held' });
    });
  });
}
