// The contract of a RateLimitStore that is called for each take.

import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { slidingLog } from '../../gateway/policy/rate-limit/gcra.ts';
import type { Limit } from '../../gateway/policy/rate-limit/limit.ts';
import { HOUR, limitOf, type StoreUnderTest } from './rate-limit-store.ts';

/** In addition to the contract of every store: no units are leased. */
export function exactStoreContract(name: string, open: () => Promise<StoreUnderTest>): void {
  describe(`rate-limit store called for each take: ${name}`, () => {
    let store: StoreUnderTest;
    beforeAll(async () => {
      store = await open();
    });
    afterAll(() => store.close());

    const newKey = (): string => `{contract:${randomUUID()}}:orders:v1:default`;
    const logOf = (units: number, windowMs: number): Limit => ({
      ...limitOf(units, windowMs),
      algorithm: 'sliding-log',
    });

    it('RL-8: a sliding log admits exactly its units in any window', async () => {
      const key = newKey();
      const limit = logOf(3, 10_000);
      const ask = async (cost = 1): Promise<string> => {
        const taken = await store.clients[0].take({ key, limit, cost });
        return taken.allowed ? `left ${taken.remaining}` : `wait ${Math.ceil(taken.retryAfterMs / 1000)} s`;
      };
      expect([await ask(), await ask()]).toEqual(['left 2', 'left 1']);
      await store.advance(key, 5000);
      expect([await ask(), await ask(), await ask(2), await ask(4)]).toEqual([
        ...['left 0', 'wait 5 s', 'wait 5 s', 'wait 10 s'],
      ]);
      await store.advance(key, 5000);
      expect([await ask(3), await ask(2), await ask()]).toEqual(['wait 5 s', 'left 0', 'wait 5 s']);
    });

    it('RL-9: reset of a sliding log is the time to all units, or to the next if none is left', async () => {
      const key = newKey();
      const limit = logOf(2, 20_000);
      const reset = async () =>
        Math.ceil((await store.clients[0].take({ key, limit, cost: 1 })).resetMs / 1000);
      expect(await reset()).toBe(20);
      await store.advance(key, 5000);
      expect(await reset()).toBe(15);
    });

    it('RL-10: 200 parallel takes of several clients fill a sliding log exactly', async () => {
      const take = { key: newKey(), limit: logOf(50, HOUR), cost: 1 };
      const taken = await Promise.all(
        Array.from({ length: 200 }, (_, i) => (store.clients[i % 4] ?? store.clients[0]).take(take)),
      );
      expect(taken.filter(({ allowed }) => allowed)).toHaveLength(50);
    });

    it.each([
      ['one client', 1],
      ['several clients', 4],
    ])(
      'RL-10: 200 concurrent requests of %s take the limits of two subjects both or not at all',
      async (_who, clients) => {
        const [mine, everyones] = [newKey(), newKey()];
        const consumer = { key: mine, limit: limitOf(60, HOUR), cost: 1 };
        const log = { key: mine, limit: logOf(60, HOUR), cost: 1 };
        const everyone = { key: everyones, limit: limitOf(40, HOUR), cost: 1 };
        const requests = await Promise.all(
          Array.from({ length: 200 }, (_, i) =>
            (store.clients[i % clients] ?? store.clients[0]).takeAll([consumer, log, everyone]),
          ),
        );
        const admitted = requests.filter((each) => each.every((bucket) => bucket?.allowed));
        expect(admitted).toHaveLength(40);
        // Units of refused requests are returned, so the rest of the consumer's own limits is there.
        await expect.poll(async () => (await store.clients[0].take({ ...log, cost: 20 })).allowed).toBe(true);
        const { allowed, remaining } = await store.clients[0].take(consumer);
        expect(allowed).toBe(true);
        expect(remaining).toBeLessThanOrEqual(19);
        // A bucket never gains a unit, and may lose one if units are returned out of order.
        // One client returns them in order.
        if (clients === 1) expect(remaining).toBe(19);
        expect(await store.clients[0].take(log)).toMatchObject({ allowed: false, remaining: 0 });
      },
    );

    it('RL-10: if the limits of one subject refuse, those of the next subject are not taken', async () => {
      const [mine, everyones] = [newKey(), newKey()];
      const consumer = { key: mine, limit: limitOf(1, HOUR), cost: 1 };
      const everyone = { key: everyones, limit: limitOf(9, HOUR), cost: 1 };
      await store.clients[0].takeAll([consumer, everyone]);
      const [refused] = await store.clients[0].takeAll([consumer, everyone]);
      expect(refused).toMatchObject({ allowed: false });
      expect(await store.clients[0].take(everyone)).toMatchObject({ remaining: 7 });
    });

    it('RL-8: agrees with the algorithm of the log step by step', async () => {
      const steps = fc.array(fc.record({ cost: fc.integer({ min: 1, max: 4 }), quarters: fc.nat(5) }), {
        minLength: 1,
        maxLength: 10,
      });
      await fc.assert(
        fc.asyncProperty(steps, fc.integer({ min: 1, max: 6 }), async (walk, units) => {
          const key = newKey();
          // The window is long, because the clock of a real store runs during the test.
          const limit = logOf(units, 4_000_000);
          const log: number[] = [];
          let now = 0;
          for (const { cost, quarters } of walk) {
            now += quarters * 1_000_100;
            await store.advance(key, quarters * 1_000_100);
            const expected = slidingLog(log, limit, cost, now);
            if (expected.taken.allowed) for (let unit = 0; unit < cost; unit += 1) log.push(expected.at);
            const { allowed, remaining } = await store.clients[0].take({ key, limit, cost });
            expect({ allowed, remaining }).toEqual({
              allowed: expected.taken.allowed,
              remaining: expected.taken.remaining,
            });
          }
        }),
        { numRuns: 25 },
      );
    });
  });
}
