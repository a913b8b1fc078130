// The contract of every IdempotencyStore; a lock of length 0 stands for an expired one.
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

    it('IDM-5: one of thirty concurrent claims on two gateways gets the key', async () => {
      const { one, other, key } = keysOf();
      const claims = await Promise.all(
        Array.from({ length: 30 }, (_, index) =>
          (index % 2 === 0 ? one : other).claim(key, `owner-${index}`, LONG),
        ),
      );
      const kinds = claims.map(({ kind }) => kind).sort();
      expect(kinds).toEqual(['claimed', ...Array(29).fill('running')]);
    });

    it('IDM-3: an answer is returned unchanged, on every gateway and after a restart', async () => {
      const { one, other, key } = keysOf();
      await one.claim(key, 'a', LONG);
      expect(await one.finish(key, 'a', answerOf(), LONG)).toBe(true);
      expect(await other.claim(key, 'b', LONG)).toEqual({ kind: 'kept', answer: answerOf() });
      await store.restart();
      expect(await keysOf().one.claim(key, 'b', LONG)).toEqual({ kind: 'kept', answer: answerOf() });
      // Its former owner cannot claim it either.
      expect(await keysOf().one.claim(key, 'a', LONG)).toMatchObject({ kind: 'kept' });
    });

    it('stores empty and large bodies', async () => {
      const { one, key } = keysOf();
      for (const body of [Buffer.alloc(0), Buffer.alloc(1_024 ** 2, 7)]) {
        const own = `${key}-${body.length}`;
        await one.claim(own, 'a', LONG);
        await one.finish(own, 'a', answerOf({ body, headers: {} }), LONG);
        const found = await one.claim(own, 'b', LONG);
        expect(found.kind === 'kept' && Buffer.compare(found.answer.body, body)).toBe(0);
      }
    });

    it('IDM-6: a released key is free; a key with an unknown outcome is not', async () => {
      const { one, other, key } = keysOf();
      await one.claim(key, 'a', LONG);
      expect(await one.release(key, 'a')).toBe(true);
      expect(await other.claim(key, 'b', LONG)).toEqual({ kind: 'claimed' });
      expect(await other.hold(key, 'b', LONG)).toBe(true);
      for (const owner of ['a', 'b']) expect(await one.claim(key, owner, LONG)).toEqual({ kind: 'unknown' });
    });

    it('IDM-5: a key whose owner was killed is free after its lock expires', async () => {
      const { one, other, key } = keysOf();
      expect(await one.claim(key, 'killed', 0)).toEqual({ kind: 'claimed' });
      expect(await other.claim(key, 'next', LONG)).toEqual({ kind: 'claimed' });
      // A late settlement by the first owner is refused.
      expect(await one.finish(key, 'killed', answerOf(), LONG)).toBe(false);
      expect(await one.hold(key, 'killed', LONG)).toBe(false);
      expect(await one.release(key, 'killed')).toBe(false);
      expect(await one.claim(key, 'third', LONG)).toEqual({ kind: 'running' });
      expect(await other.finish(key, 'next', answerOf(), LONG)).toBe(true);
    });

    it('IDM-5: a lock outlives its gateway until it expires', async () => {
      const { one, key } = keysOf();
      await one.claim(key, 'killed', LONG);
      await one.claim(`${key}-short`, 'killed', 0);
      await store.restart();
      expect(await keysOf().one.claim(key, 'next', LONG)).toEqual({ kind: 'running' });
      expect(await keysOf().one.claim(`${key}-short`, 'next', LONG)).toEqual({ kind: 'claimed' });
    });

    it('the owner of a key can claim it again, with a longer or shorter lock', async () => {
      const { one, other, key } = keysOf();
      await one.claim(key, 'a', LONG);
      expect(await one.claim(key, 'a', LONG)).toEqual({ kind: 'claimed' });
      expect(await other.claim(key, 'b', LONG)).toEqual({ kind: 'running' });
      await one.claim(key, 'a', 0);
      expect(await other.claim(key, 'b', LONG)).toEqual({ kind: 'claimed' });
    });

    it('an outcome expires', async () => {
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

    it('a key that was never claimed cannot be settled', async () => {
      const { one, key } = keysOf();
      expect(await one.finish(key, 'a', answerOf(), LONG)).toBe(false);
      expect(await one.release(key, 'a')).toBe(false);
      expect(await one.claim(key, 'b', LONG)).toEqual({ kind: 'claimed' });
    });
  });
}
