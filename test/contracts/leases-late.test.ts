// Tests of leases in front of a slow store: which takes wait, and how old answers are used.
import { describe, expect, it } from 'vitest';
import { emissionInterval } from '../../gateway/policy/rate-limit/gcra.ts';
import type { Limit, RateLimitStore } from '../../gateway/policy/rate-limit/limit.ts';
import { createLeasingStore } from '../../gateway/stores/leases.ts';
import { busy, countedStore, settle, taking } from './counted-store.ts';
import { HOUR, limitOf } from './rate-limit-store.ts';

describe('leases', () => {
  it('RL-13: a take that has waited 50 ms does not wait for another call', async () => {
    const { inner, now, clock, calls } = countedStore();
    const slow: RateLimitStore = {
      ...inner,
      take: async (take) => {
        await settle();
        clock.time += 60;
        return inner.take(take);
      },
    };
    const startDeadline = () => {
      const from = clock.time;
      return {
        get expired() {
          return clock.time - from > 50;
        },
        [Symbol.dispose]: () => undefined,
      };
    };
    const take = taking(createLeasingStore(slow, { now, startDeadline }), limitOf(20, HOUR));
    const [first, second] = await Promise.allSettled([take(), take()]);
    expect(first).toMatchObject({ status: 'fulfilled' });
    expect(second).toMatchObject({ status: 'rejected', reason: { code: 'store_unavailable' } });
    expect(calls).toHaveLength(1);
  });

  describe('on a store with slow answers', () => {
    /** Each answer is `ms` old when it comes; takes wait for no further answer after 20 ms. */
    const slowStore = (ms: number, limit: Limit) => {
      const { inner, now, clock } = countedStore();
      const onItsWay = async <T>(answer: T): Promise<Awaited<T>> => {
        const taken = await answer;
        clock.time += ms;
        return taken;
      };
      const slow: RateLimitStore = {
        take: (take) => onItsWay(inner.take(take)),
        takeAll: (takes) => onItsWay(inner.takeAll(takes)),
      };
      const startDeadline = () => {
        const from = clock.time;
        return {
          get expired() {
            return clock.time - from >= 20;
          },
          [Symbol.dispose]: () => undefined,
        };
      };
      const store = createLeasingStore(slow, { now, startDeadline });
      const plenty = { key: 'plenty', limit: limitOf(1_000_000, 1000), cost: 1 };
      const own = (cost: number) => ({ key: 'k', limit, cost });
      const alone = async (cost = 1) => store.take(own(cost));
      const beside = async (cost = 1) => (await store.takeAll([own(cost), plenty]))[0];
      return { clock, ways: { take: alone, takeAll: beside } };
    };

    it.each(['take', 'takeAll'] as const)(
      'RL-13: a refusal is valid even if it is older than the life of a lease: %s',
      async (way) => {
        const { ways } = slowStore(18, limitOf(10, 1000));
        const take = ways[way];
        await take(10);
        const refused = await Promise.all([take(), take()]);
        for (const each of refused)
          expect(each).toMatchObject({ allowed: false, remaining: 0, retryAfterMs: expect.closeTo(64, 0) });
      },
    );

    it.each([
      ['take', 2, limitOf(1000, 1000, 10)],
      ['takeAll', 2, limitOf(1000, 1000, 10)],
      ['take', 8, limitOf(10_000, 60_000, 100)],
    ] as const)(
      'RL-1: a request above the limit is refused and does not use the fallback: %s, answers after %i ms',
      async (way, ms, limit) => {
        const { ways, clock } = slowStore(ms, limit);
        const from = clock.time;
        const count = { admitted: 0, refused: 0, left: 0 };
        for (let wave = 0; wave < 20; wave++) {
          const takes = Array.from({ length: 40 }, () => ways[way]());
          for (const each of await Promise.allSettled(takes)) {
            if (each.status === 'rejected') count.left += 1;
            else if (each.value?.allowed) count.admitted += 1;
            else if (each.value?.remaining === 0) count.refused += 1;
          }
        }
        const most = limit.burst + (1000 * (clock.time - from)) / emissionInterval(limit);
        expect(count.admitted + count.refused + count.left).toBe(800);
        expect(count.admitted).toBeLessThanOrEqual(most);
        // A take whose unit arrives too late is rejected as unavailable, and not refused.
        expect(count.left).toBeLessThan(40);
      },
    );
  });

  it('RL-13: units fetched for a request are used, however late they arrive', async () => {
    const { inner, now, clock, calls } = countedStore();
    const late: RateLimitStore = {
      ...inner,
      takeAll: async (takes) => {
        const taken = await inner.takeAll(takes);
        clock.time += 40;
        return taken;
      },
    };
    const store = createLeasingStore(late, { now });
    const [fast, slow] = [
      { key: 'fast', limit: limitOf(100, 1000), cost: 1 },
      { key: 'slow', limit: limitOf(10, HOUR), cost: 1 },
    ];
    expect((await store.takeAll([fast, slow])).map((each) => each?.allowed)).toEqual([true, true]);
    expect(calls).toHaveLength(1);
  });

  it('an answer that arrives after a newer one keeps the units of the newer one', async () => {
    const { inner, now, clock } = countedStore();
    await inner.take({ key: 'k', limit: busy, cost: 300 });
    const overtaken = Promise.withResolvers<void>();
    const slowTogether: RateLimitStore = {
      ...inner,
      takeAll: async (takes) => {
        const taken = await inner.takeAll(takes);
        await overtaken.promise;
        return taken;
      },
    };
    const store = createLeasingStore(slowTogether, { now });
    const together = store.takeAll(['k', 'other'].map((key) => ({ key, limit: busy, cost: 1 })));
    await settle();
    clock.time += 1;
    const take = taking(store, busy);
    await take();
    overtaken.resolve();
    await together;
    let admitted = 2;
    while ((await take()).allowed) admitted++;
    expect(admitted).toBe(300);
  });
});
