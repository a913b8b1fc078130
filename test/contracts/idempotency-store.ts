// What every IdempotencyStore promises, whatever keeps its keys. Run by lasting-stores.test.ts on each of them.
// A lock of no length stands for one that has run out.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { StoredResponse } from '../../gateway/policy/idempotency/rules.ts';
import type { LastingUnderTest } from './lasting-stores.ts';

const LONG = 3_600_000;

export const answerOf = (more: Partial<StoredResponse> = {}): StoredResponse => ({
  fingerprint: 'abc',
  status: 201,
  headers: { 'content-type': 'application/json', link: ['<a>', '<b>'], 'x-name': 'm\u00fcller, "x"' },
  body: Buffer.from([0, 255, 13, 10, 0x80]),
  ...more,
});

export function idempotencyStoreContract(name: string, open: () => Promise<LastingUnderTest>): void {
  describe(`idempotency store: ${name}`, () => {
    let store: LastingUnderTest;
    beforeAll(async () => {
      store = await open();
    });
    afterAll(() => store.close());
    const keysOf = () => {
      const [one, other] = store.gateways();
      return { one: one.idempotency, other: other.idempotency, key: randomUUID() };
    };

    it('IDM-5: of thirty that ask at once, at two gateways, one gets it', async () => {
      const { one, other, key } = keysOf();
      const asked = await Promise.all(
        Array.from({ length: 30 }, (_, index) =>
          (index % 2 === 0 ? one : other).claim(key, `owner-${index}`, LONG),
        ),
      );
      const kinds = asked.map(({ kind }) => kind).sort();
      expect(kinds).toEqual(['claimed', ...Array(29).fill('running')]);
    });

    it('IDM-3: an answer is kept as it was, for everyone and through a restart', async () => {
      const { one, other, key } = keysOf();
      await one.claim(key, 'a', LONG);
      expect(await one.finish(key, 'a', answerOf(), LONG)).toBe(true);
      expect(await other.claim(key, 'b', LONG)).toEqual({ kind: 'kept', answer: answerOf() });
      await store.restart();
      expect(await keysOf().one.claim(key, 'b', LONG)).toEqual({ kind: 'kept', answer: answerOf() });
      // Not even by who had it.
      expect(await keysOf().one.claim(key, 'a', LONG)).toMatchObject({ kind: 'kept' });
    });

    it('keeps answers without a body and large ones', async () => {
      const { one, key } = keysOf();
      for (const body of [Buffer.alloc(0), Buffer.alloc(1_024 ** 2, 7)]) {
        const own = `${key}-${body.length}`;
        await one.claim(own, 'a', LONG);
        await one.finish(own, 'a', answerOf({ body, headers: {} }), LONG);
        const found = await one.claim(own, 'b', LONG);
        expect(found.kind === 'kept' && Buffer.compare(found.answer.body, body)).toBe(0);
      }
    });

    it('IDM-6: one that is released is free, one whose outcome is unknown is not', async () => {
      const { one, other, key } = keysOf();
      await one.claim(key, 'a', LONG);
      expect(await one.release(key, 'a')).toBe(true);
      expect(await other.claim(key, 'b', LONG)).toEqual({ kind: 'claimed' });
      expect(await other.hold(key, 'b', LONG)).toBe(true);
      for (const owner of ['a', 'b']) expect(await one.claim(key, owner, LONG)).toEqual({ kind: 'unknown' });
    });

    it('IDM-5: what its owner never spoke of again is free once the lock has run out', async () => {
      const { one, other, key } = keysOf();
      expect(await one.claim(key, 'killed', 0)).toEqual({ kind: 'claimed' });
      expect(await other.claim(key, 'next', LONG)).toEqual({ kind: 'claimed' });
      // It was only slow: what it says now is not taken, and harms nobody.
      expect(await one.finish(key, 'killed', answerOf(), LONG)).toBe(false);
      expect(await one.hold(key, 'killed', LONG)).toBe(false);
      expect(await one.release(key, 'killed')).toBe(false);
      expect(await one.claim(key, 'third', LONG)).toEqual({ kind: 'running' });
      expect(await other.finish(key, 'next', answerOf(), LONG)).toBe(true);
    });

    it('IDM-5: a lock outlives its gateway, and no longer than it was made for', async () => {
      const { one, key } = keysOf();
      await one.claim(key, 'killed', LONG);
      await one.claim(`${key}-short`, 'killed', 0);
      await store.restart();
      expect(await keysOf().one.claim(key, 'next', LONG)).toEqual({ kind: 'running' });
      expect(await keysOf().one.claim(`${key}-short`, 'next', LONG)).toEqual({ kind: 'claimed' });
    });

    it('who has a key gets it anew, for longer or not at all', async () => {
      const { one, other, key } = keysOf();
      await one.claim(key, 'a', LONG);
      expect(await one.claim(key, 'a', LONG)).toEqual({ kind: 'claimed' });
      expect(await other.claim(key, 'b', LONG)).toEqual({ kind: 'running' });
      await one.claim(key, 'a', 0);
      expect(await other.claim(key, 'b', LONG)).toEqual({ kind: 'claimed' });
    });

    it('an outcome is forgotten after its time', async () => {
      const { one, key } = keysOf();
      for (const [index, settle] of [
        () => one.finish(`${key}-0`, 'a', answerOf(), 0),
        () => one.hold(`${key}-1`, 'a', 0),
      ].entries()) {
        await one.claim(`${key}-${index}`, 'a', LONG);
        expect(await settle()).toBe(true);
        expect(await one.claim(`${key}-${index}`, 'b', LONG)).toEqual({ kind: 'claimed' });
      }
    });

    it('nobody settles what was never claimed', async () => {
      const { one, key } = keysOf();
      expect(await one.finish(key, 'a', answerOf(), LONG)).toBe(false);
      expect(await one.release(key, 'a')).toBe(false);
      expect(await one.claim(key, 'b', LONG)).toEqual({ kind: 'claimed' });
    });
  });
}
