// The contract of every RateLimitStore.
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { MaybePromise } from '../../gateway/policy/contract.ts';
import { gcra } from '../../gateway/policy/rate-limit/gcra.ts';
import type {
  Limit,
  LimitPart,
  Quota,
  RateLimiter,
  RateLimitStore,
  Take,
  Taken,
} from '../../gateway/policy/rate-limit/limit.ts';

export interface StoreUnderTest {
  /** Several clients of the same buckets, like several gateways. */
  readonly clients: readonly [RateLimitStore, ...RateLimitStore[]];
  /** Lets time pass for one bucket. */
  readonly advance: (key: string, ms: number) => Promise<void>;
  readonly close: () => void;
}

export const limitOf = (units: number, windowMs: number, burst = units): Limit => ({
  name: 'default',
  units,
  windowMs,
  burst,
});

/** Takes one limit of one request. */
export function takeOne(
  limiter: RateLimiter,
  take: Take,
  rule: Partial<LimitPart['rule']> = {},
): MaybePromise<Quota> {
  const all = { onStoreFailure: 'local', exact: false, shadow: false, by: 'consumer', ...rule } as const;
  const only = ([quota]: readonly Quota[]): Quota => quota ?? expect.fail('no quota');
  const taking = limiter.take([{ ...take, rule: all }]);
  return taking instanceof Promise ? taking.then(only) : only(taking);
}

export const HOUR = 3_600_000;

export function rateLimitStoreContract(name: string, open: () => Promise<StoreUnderTest>): void {
  describe(`rate-limit store: ${name}`, () => {
    let store: StoreUnderTest;
    beforeAll(async () => {
      store = await open();
    });
    afterAll(() => store.close());

    const newKey = (): string => `contract:${randomUUID()}`;
    const take = async (key: string, limit: Limit, cost = 1): Promise<Taken> =>
      await store.clients[0].take({ key, limit, cost });

    it('RL-9: matches the vector of five units in ten seconds', async () => {
      const key = newKey();
      const limit = limitOf(5, 10_000);
      const ask = async (): Promise<string> => {
        const taken = await take(key, limit);
        return taken.allowed ? `left ${taken.remaining}` : `wait ${Math.ceil(taken.retryAfterMs / 1000)} s`;
      };

      const answers: string[] = [];
      for (let i = 0; i < 6; i++) answers.push(await ask());
      await store.advance(key, 1000);
      answers.push(await ask());
      await store.advance(key, 1000);
      answers.push(await ask(), await ask());
      await store.advance(key, 8000);
      answers.push(await ask());

      expect(answers).toEqual([
        ...['left 4', 'left 3', 'left 2', 'left 1', 'left 0', 'wait 2 s'],
        ...['wait 1 s', 'left 0', 'wait 2 s', 'left 3'],
      ]);
    });

    it('RL-10: 200 concurrent takes of several clients admit exactly the burst', async () => {
      const key = newKey();
      const limit = limitOf(50, HOUR);
      const taken = await Promise.all(
        Array.from({ length: 200 }, (_, i) => {
          const client = store.clients[i % store.clients.length] ?? store.clients[0];
          return client.take({ key, limit, cost: 1 });
        }),
      );
      expect(taken.filter(({ allowed }) => allowed)).toHaveLength(50);
      for (const { remaining } of taken) expect(remaining).toBeGreaterThanOrEqual(0);
    });

    it('RL-8: concurrent takes of a large limit by several clients admit at most the burst', async () => {
      const key = newKey();
      const limit = limitOf(600, HOUR);
      const taken = await Promise.all(
        Array.from({ length: 1600 }, (_, i) => {
          const client = store.clients[i % store.clients.length] ?? store.clients[0];
          return client.take({ key, limit, cost: 1 });
        }),
      );
      const admitted = taken.filter(({ allowed }) => allowed).length;
      expect(admitted).toBeLessThanOrEqual(600);
      expect(admitted).toBeGreaterThan(500);
    });

    it('RL-9: a cost above one is taken whole or not at all', async () => {
      const key = newKey();
      const limit = limitOf(5, HOUR);
      expect(await take(key, limit, 3)).toMatchObject({ allowed: true, remaining: 2, retryAfterMs: 0 });
      const refused = await take(key, limit, 3);
      expect(refused).toMatchObject({ allowed: false, remaining: 2 });
      expect(Math.ceil(refused.retryAfterMs / 1000)).toBe(720);
      expect(await take(key, limit, 2)).toMatchObject({ allowed: true, remaining: 0 });
    });

    it('RL-9: a cost above the burst is always refused and takes nothing', async () => {
      const key = newKey();
      const limit = limitOf(3, HOUR);
      expect(await take(key, limit, 4)).toMatchObject({ allowed: false, remaining: 3 });
      expect(await take(key, limit, 3)).toMatchObject({ allowed: true, remaining: 0 });
    });

    it('RL-9: repeated refusals take nothing', async () => {
      const key = newKey();
      const limit = limitOf(1, 60_000);
      expect(await take(key, limit)).toMatchObject({ allowed: true, remaining: 0 });
      for (let i = 0; i < 20; i++) {
        const { allowed, remaining, retryAfterMs } = await take(key, limit);
        expect({ allowed, remaining }).toEqual({ allowed: false, remaining: 0 });
        expect(retryAfterMs).toBeLessThanOrEqual(60_000);
      }
      await store.advance(key, 60_000);
      expect(await take(key, limit)).toMatchObject({ allowed: true });
    });

    it('RL-9: reset is the time to a full bucket, or to the next unit if none is left', async () => {
      const key = newKey();
      const limit = limitOf(2, 20_000);
      const first = await take(key, limit);
      const second = await take(key, limit);
      expect([first, second].map(({ resetMs }) => Math.ceil(resetMs / 1000))).toEqual([10, 10]);
      await store.advance(key, 10_000);
      const third = await take(key, limit);
      expect(Math.ceil(third.resetMs / 1000)).toBe(10);
    });

    it('RL-12: buckets of different keys are independent', async () => {
      const limit = limitOf(1, HOUR);
      const [one, other] = [newKey(), `${newKey()}}{odd`];
      expect(await take(one, limit)).toMatchObject({ allowed: true });
      expect(await take(other, limit)).toMatchObject({ allowed: true });
      expect(await take(one, limit)).toMatchObject({ allowed: false });
      expect(await take(other, limit)).toMatchObject({ allowed: false });
    });

    it('RL-11: after a limit was lowered, no subject waits longer than for an empty bucket', async () => {
      const key = newKey();
      await take(key, limitOf(100, HOUR), 100);
      const lowered = await take(key, limitOf(100, HOUR, 2));
      expect(lowered).toMatchObject({ allowed: false, remaining: 0 });
      expect(lowered.retryAfterMs).toBeLessThanOrEqual(36_000);
      await store.advance(key, 36_000);
      expect(await take(key, limitOf(100, HOUR, 2))).toMatchObject({ allowed: true, remaining: 0 });
    });

    it('RL-11: after several limits were lowered, no wait is longer than for empty buckets', async () => {
      const subject = `{${newKey()}}`;
      const keys = [`${subject}:one`, `${subject}:other`];
      const takes = keys.map((key) => ({ key, limit: limitOf(100, 24 * HOUR), cost: 100 }));
      await store.clients[0].takeAll(takes);
      const lowered = keys.map((key) => ({ key, limit: limitOf(60, 60_000), cost: 1 }));
      const isAllowed = async () => (await store.clients[0].takeAll(lowered)).map((each) => each?.allowed);
      expect(await isAllowed()).toContain(false);
      for (const key of keys) await store.advance(key, 1000);
      expect(await isAllowed()).toEqual([true, true]);
    });

    it('RL-10: takes from several buckets succeed together, and a refusal changes no bucket', async () => {
      const [small, large] = [newKey(), newKey()];
      const both = async (cost = 1) =>
        store.clients[0].takeAll([
          { key: large, limit: limitOf(100, HOUR), cost },
          { key: small, limit: limitOf(5, HOUR), cost },
        ]);
      expect(await both(3)).toMatchObject([
        { allowed: true, remaining: 97 },
        { allowed: true, remaining: 2 },
      ]);
      for (let i = 0; i < 5; i++) {
        const [, refused] = await both(3);
        expect(refused).toMatchObject({ allowed: false, remaining: 2 });
        expect(Math.ceil((refused?.retryAfterMs ?? 0) / 1000)).toBe(720);
      }
      expect(await both(2)).toMatchObject([{ remaining: 95 }, { remaining: 0 }]);
      expect(await take(large, limitOf(100, HOUR))).toMatchObject({ remaining: 94 });
    });

    it('RL-10: 120 concurrent takes from two buckets by several clients use both equally', async () => {
      const keys = [newKey(), newKey()];
      const limits = [limitOf(40, HOUR), limitOf(30, HOUR)];
      const takes = keys.map((key, index) => ({ key, limit: limits[index] ?? limitOf(1, HOUR), cost: 1 }));
      const taken = await Promise.all(
        Array.from({ length: 120 }, (_, i) => {
          const client = store.clients[i % store.clients.length] ?? store.clients[0];
          return client.takeAll(takes);
        }),
      );
      const isAdmitted = (each: (typeof taken)[number]) => each.every((bucket) => bucket?.allowed);
      let admitted = taken.filter(isAdmitted).length;
      expect(admitted).toBeLessThanOrEqual(30);
      // A client can be refused while another holds units that it will return. A refusal is cached for 1 s.
      await expect
        .poll(async () => {
          for (const client of store.clients) while (isAdmitted(await client.takeAll(takes))) admitted += 1;
          return admitted;
        })
        .toBeGreaterThan(25);
      expect(admitted).toBeLessThanOrEqual(30);
      const [first] = takes;
      let others = 0;
      for (const client of store.clients) while (first && (await client.take(first)).allowed) others += 1;
      expect(admitted + others).toBeLessThanOrEqual(40);
    });

    it('RL-9: agrees with the algorithm step by step', async () => {
      const interval = 1_000_000;
      const steps = fc.array(fc.record({ cost: fc.integer({ min: 1, max: 4 }), quarters: fc.nat(8) }), {
        minLength: 1,
        maxLength: 12,
      });
      await fc.assert(
        fc.asyncProperty(steps, fc.integer({ min: 1, max: 6 }), async (walk, burst) => {
          const key = newKey();
          const limit = limitOf(1, interval, burst);
          let tat: number | undefined;
          let now = 0;
          for (const { cost, quarters } of walk) {
            now += (quarters * interval) / 4;
            await store.advance(key, (quarters * interval) / 4);
            const expected = gcra(tat, limit, cost, now);
            tat = expected.tat ?? tat;
            const { allowed, remaining } = await take(key, limit, cost);
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
