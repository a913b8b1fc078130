// Leases: how seldom they ask the store, that they never pass a limit, and that their numbers stay honest.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { StoreUnavailable } from '../../gateway/policy/contract.ts';
import { emissionInterval, gcra } from '../../gateway/policy/rate-limit/gcra.ts';
import type { Limit, RateLimitStore, Taken } from '../../gateway/policy/rate-limit/limit.ts';
import { createEmbeddedRateLimitStore } from '../../gateway/stores/embedded/rate-limit.ts';
import { createLeasingStore } from '../../gateway/stores/leases.ts';
import { limitOf } from './rate-limit-store.ts';

const HOUR = 3_600_000;
const busy = limitOf(600, 60_000);

/** Buckets in memory on a clock set by hand, with the costs of the calls that reached them. */
function countedStore() {
  const clock = { time: 5000 };
  const now = (): number => clock.time;
  const buckets = createEmbeddedRateLimitStore({ now });
  const calls: number[] = [];
  const together: (readonly string[])[] = [];
  const state = { broken: false };
  const inner: RateLimitStore = {
    take: async (take) => {
      calls.push(take.cost);
      if (state.broken) throw new StoreUnavailable('away');
      return buckets.take(take);
    },
    takeAll: async (takes) => {
      calls.push(...takes.slice(0, 1).map(({ cost }) => cost));
      together.push(takes.map(({ key }) => key));
      if (state.broken) throw new StoreUnavailable('away');
      return buckets.takeAll(takes);
    },
  };
  return { clock, now, inner, calls, together, state };
}

const taking = (store: Pick<RateLimitStore, 'take'>, limit: Limit) => (cost?: number) =>
  store.take({ key: 'k', limit, cost: cost ?? 1 });

/** Lets what was started in the background run to its end. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('leases', () => {
  it('only the first take of a key waits; the next ones are answered at once from its lease', async () => {
    const { inner, now, calls } = countedStore();
    const take = taking(createLeasingStore(inner, { now }), busy);
    const first = take();
    expect(first).toBeInstanceOf(Promise);
    expect(await first).toMatchObject({ allowed: true, remaining: 599 });
    expect(take()).toMatchObject({ allowed: true, remaining: 598 });
    expect(calls).toEqual([10]);
  });

  it('a lease is renewed in the background at a quarter left, so a busy key never waits again', async () => {
    const { inner, now, calls } = countedStore();
    const take = taking(createLeasingStore(inner, { now }), busy);
    await take();
    for (let i = 0; i < 300; i++) {
      expect(take()).not.toBeInstanceOf(Promise);
      await settle();
    }
    expect(calls.length).toBeLessThan(40);
  });

  it('a whole burst passes, unit by unit, and not one more', async () => {
    const { inner, now, calls } = countedStore();
    const take = taking(createLeasingStore(inner, { now }), busy);
    const seen: Taken[] = [];
    for (let i = 0; i < 700; i++) seen.push(await take());
    expect(seen.map(({ allowed }) => allowed)).toEqual(seen.map((_, i) => i < 600));
    expect(seen.map(({ remaining }) => remaining)).toEqual(seen.map((_, i) => Math.max(0, 599 - i)));
    expect(calls.length).toBeLessThan(120);
  });

  it('a small limit is leased one unit at a time, so gateways share it exactly', async () => {
    const { inner, now, calls } = countedStore();
    const limit = limitOf(20, HOUR);
    const takes = [inner, inner].map((store) => taking(createLeasingStore(store, { now }), limit));
    let admitted = 0;
    for (let i = 0; i < 30; i++) for (const take of takes) if ((await take()).allowed) admitted++;
    expect(admitted).toBe(20);
    expect(new Set(calls)).toEqual(new Set([1]));
  });

  it('takes that come together wait for one call, and those that do not fit are refused by it', async () => {
    const { inner, now, calls } = countedStore();
    const take = taking(createLeasingStore(inner, { now }), limitOf(5, HOUR));
    const taken = await Promise.all(Array.from({ length: 200 }, () => take()));
    expect(taken.filter(({ allowed }) => allowed)).toHaveLength(5);
    expect(calls.length).toBeLessThanOrEqual(4);
  });

  it('a flood of refused takes costs no store call until a unit can be there', async () => {
    const { inner, now, calls, clock } = countedStore();
    const take = taking(createLeasingStore(inner, { now }), limitOf(60, 60_000));
    await take(60);
    const before = calls.length;
    for (let i = 0; i < 500; i++) {
      expect(take()).toMatchObject({ allowed: false, remaining: 0, retryAfterMs: 1000, resetMs: 1000 });
    }
    expect(calls.length).toBe(before);
    clock.time += 1000;
    expect(await take()).toMatchObject({ allowed: true });
  });

  it('a refusal is forgotten within a second, so a bucket emptied by hand counts again', async () => {
    const { inner, now, calls, clock } = countedStore();
    const take = taking(createLeasingStore(inner, { now }), limitOf(1, HOUR));
    await take();
    expect(take()).toMatchObject({ allowed: false });
    const before = calls.length;
    clock.time += 1001;
    expect(await take()).toMatchObject({ allowed: false });
    expect(calls.length).toBe(before + 1);
  });

  it('a lease holds what the bucket refills in its life, so that a key seldom used loses nothing', async () => {
    const { inner, now, calls, clock } = countedStore();
    const take = taking(createLeasingStore(inner, { now }), busy);
    for (let i = 0; i < 3; i++) {
      expect((await take()).remaining).toBe(599);
      clock.time += 1100;
    }
    expect(calls).toEqual([10, 10, 10]);
  });

  it('RL-2: what several gateways lease and do not use costs a steady caller none of its burst', async () => {
    const { inner, now, calls, clock } = countedStore();
    const gateways = [0, 1, 2, 3].map(() => taking(createLeasingStore(inner, { now }), busy));
    const remaining: number[] = [];
    for (let call = 0; call < 600; call++) {
      const taken = await gateways[call % 4]?.();
      remaining.push(taken?.remaining ?? 0);
      clock.time += 200;
      await settle();
    }
    // Half of what the limit lets pass for good.
    expect(Math.min(...remaining)).toBeGreaterThan(500);
    expect(calls.length).toBeLessThan(500);
    const burst = await Promise.all(Array.from({ length: 480 }, async (_, i) => gateways[i % 4]?.()));
    expect(burst.filter((taken) => taken?.allowed)).toHaveLength(480);
  });

  it('a limit that refills more slowly than leases live is asked for unit by unit', async () => {
    const { inner, now, calls } = countedStore();
    const take = taking(createLeasingStore(inner, { now }), limitOf(6000, HOUR));
    for (let i = 0; i < 3; i++) await take();
    expect(calls).toEqual([1, 1, 1]);
  });

  it('a changed limit ends the lease that was taken under the old one', async () => {
    const { inner, now } = countedStore();
    const store = createLeasingStore(inner, { now });
    await store.take({ key: 'k', limit: busy, cost: 1 });
    const lowered = { ...busy, units: 60, burst: 60 };
    expect(store.take({ key: 'k', limit: lowered, cost: 1 })).toBeInstanceOf(Promise);
  });

  it('an equal limit of a reloaded plan keeps the lease', async () => {
    const { inner, now } = countedStore();
    const store = createLeasingStore(inner, { now });
    await store.take({ key: 'k', limit: busy, cost: 1 });
    expect(store.take({ key: 'k', limit: { ...busy }, cost: 1 })).not.toBeInstanceOf(Promise);
  });

  it('holds no more keys than it may and gives up the longest without a call', async () => {
    const { inner, now } = countedStore();
    const store = createLeasingStore(inner, { now, maxLeases: 2 });
    for (const key of ['a', 'b', 'c']) await store.take({ key, limit: busy, cost: 1 });
    expect(store.take({ key: 'c', limit: busy, cost: 1 })).not.toBeInstanceOf(Promise);
    expect(store.take({ key: 'b', limit: busy, cost: 1 })).not.toBeInstanceOf(Promise);
    expect(store.take({ key: 'a', limit: busy, cost: 1 })).toBeInstanceOf(Promise);
  });

  it('RL-13: when the store is away all that wait are told, and units already taken are still served', async () => {
    const { inner, now, state } = countedStore();
    const take = taking(createLeasingStore(inner, { now }), busy);
    await take();
    state.broken = true;
    for (let i = 0; i < 9; i++) expect(take()).toMatchObject({ allowed: true });
    const waiting = await Promise.allSettled([take(), take(), take()]);
    expect(waiting.map((one) => one.status === 'rejected' && one.reason instanceof StoreUnavailable)).toEqual(
      [true, true, true],
    );
    state.broken = false;
    expect(await take()).toMatchObject({ allowed: true });
  });

  it('RL-13: a take that has waited 50 ms is not made to wait for another call', async () => {
    const { inner, now, clock, calls } = countedStore();
    const slow: RateLimitStore = {
      ...inner,
      take: async (take) => {
        await settle();
        clock.time += 60;
        return inner.take(take);
      },
    };
    const patience = () => {
      const from = clock.time;
      return {
        get gone() {
          return clock.time - from > 50;
        },
        [Symbol.dispose]: () => undefined,
      };
    };
    const take = taking(createLeasingStore(slow, { now, patience }), limitOf(20, HOUR));
    const [first, second] = await Promise.allSettled([take(), take()]);
    expect(first).toMatchObject({ status: 'fulfilled' });
    expect(second).toMatchObject({ status: 'rejected', reason: { code: 'store_unavailable' } });
    expect(calls).toHaveLength(1);
  });

  describe('of a store whose answers are long on their way', () => {
    /** Each answer is `ms` old when it comes; nobody waits for a further one after 20 ms. */
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
      const patience = () => {
        const from = clock.time;
        return {
          get gone() {
            return clock.time - from >= 20;
          },
          [Symbol.dispose]: () => undefined,
        };
      };
      const store = createLeasingStore(slow, { now, patience });
      const plenty = { key: 'plenty', limit: limitOf(1_000_000, 1000), cost: 1 };
      const own = (cost: number) => ({ key: 'k', limit, cost });
      const alone = async (cost = 1) => store.take(own(cost));
      const beside = async (cost = 1) => (await store.takeAll([own(cost), plenty]))[0];
      return { clock, ways: { alone, beside } };
    };

    it.each(['alone', 'beside'] as const)(
      'RL-13: a refusal stands, be it older than a lease lives: %s',
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
      ['alone', 2, limitOf(1000, 1000, 10)],
      ['beside', 2, limitOf(1000, 1000, 10)],
      ['alone', 8, limitOf(10_000, 60_000, 100)],
    ] as const)(
      'RL-1: what is too much for a limit is refused by it, and not left to what holds without a store: %s, %i ms',
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
        // A unit that is there and comes too late is not refused.
        expect(count.left).toBeLessThan(40);
      },
    );
  });

  const walk = fc.array(
    fc.record({
      wait: fc.nat(40),
      gateway: fc.nat(2),
      takes: fc.integer({ min: 1, max: 30 }),
      cost: fc.constantFrom(1, 1, 1, 2, 5),
    }),
    { minLength: 1, maxLength: 60 },
  );
  const limits = fc.constantFrom(
    limitOf(600, 60_000),
    limitOf(600, 60_000, 100),
    limitOf(7000, 60_000),
    limitOf(100, 1000, 300),
    limitOf(5, 1000),
  );

  it('RL-8: units leased before a pause do not come on top of the bucket that filled up meanwhile', async () => {
    const { inner, now, clock } = countedStore();
    const [one, other] = [inner, inner].map((store) => taking(createLeasingStore(store, { now }), busy));
    if (one === undefined || other === undefined) throw new Error('two gateways');
    await one();
    clock.time += 990;
    let admitted = 0;
    for (const take of [one, other]) while ((await take()).allowed) admitted++;
    expect(admitted).toBeLessThanOrEqual(600);
    expect(admitted).toBeGreaterThan(590);
  });

  it('RL-8: several gateways on one bucket never admit more than burst + elapsed/T in any stretch', async () => {
    await fc.assert(
      fc.asyncProperty(walk, limits, async (steps, limit) => {
        const { inner, now, clock } = countedStore();
        const gateways = [0, 1, 2].map(() => taking(createLeasingStore(inner, { now }), limit));
        const admitted: { at: number; cost: number }[] = [];
        for (const { wait, gateway, takes, cost } of steps) {
          clock.time += (wait * emissionInterval(limit)) / 2000;
          const take = gateways[gateway] ?? taking(inner, limit);
          const taken = await Promise.all(Array.from({ length: takes }, () => take(cost)));
          await settle();
          for (const { allowed } of taken) if (allowed) admitted.push({ at: now(), cost });
        }
        // Whatever is left anywhere is asked for at once: what had been leased too much shows here.
        for (const take of gateways) {
          for (let taken = await take(); taken.allowed; taken = await take())
            admitted.push({ at: now(), cost: 1 });
        }
        expectWithin(limit, admitted);
      }),
      { numRuns: 100 },
    );
  });

  it('RL-8: requests that need two leases at once take both or none, and neither bucket ever gives more', async () => {
    await fc.assert(
      fc.asyncProperty(walk, limits, limits, async (steps, own, shared) => {
        const { inner, now, clock } = countedStore();
        const gateways = [0, 1, 2].map(() => createLeasingStore(inner, { now }));
        const admitted = new Map<string, { at: number; cost: number }[]>();
        for (const { wait, gateway, takes, cost } of steps) {
          clock.time += (wait * emissionInterval(own)) / 2000;
          const wanted = [
            { key: `own ${gateway}`, limit: own, cost },
            { key: 'shared', limit: shared, cost },
          ];
          const store = gateways[gateway];
          const taken = await Promise.allSettled(
            Array.from({ length: takes }, async () => store?.takeAll(wanted)),
          );
          await settle();
          for (const each of taken) {
            if (each.status === 'rejected') throw each.reason;
            if (!each.value?.every((bucket) => bucket?.allowed)) continue;
            for (const { key } of wanted)
              admitted.set(key, [...(admitted.get(key) ?? []), { at: now(), cost }]);
          }
        }
        for (const [key, all] of admitted) expectWithin(key === 'shared' ? shared : own, all);
      }),
      { numRuns: 60 },
    );
  });

  it('a limit that goes on refusing costs the others no unit, however often it is asked', async () => {
    const { inner, now, clock, calls, together } = countedStore();
    const store = createLeasingStore(inner, { now });
    const scarce = { key: 'scarce', limit: limitOf(1, 24 * HOUR), cost: 1 };
    const slow = { key: 'slow', limit: limitOf(20, 24 * HOUR), cost: 1 };
    expect((await store.takeAll([slow, scarce])).map((each) => each?.allowed)).toEqual([true, true]);
    for (let i = 0; i < 100; i++) {
      const [, refused] = await store.takeAll([slow, scarce]);
      expect(refused?.allowed).toBe(false);
      clock.time += 1100;
    }
    expect(together.at(-1)).toEqual(['scarce', 'slow']);
    expect(await store.take(slow)).toMatchObject({ allowed: true, remaining: 18 });
    expect(calls.length).toBeLessThan(110);
  });

  it('RL-10: 120 requests at once for two empty keys need few calls, and cost neither key more than was let pass', async () => {
    const { inner, now, calls } = countedStore();
    const store = createLeasingStore(inner, { now });
    const takes = [
      { key: 'large', limit: limitOf(40, HOUR), cost: 1 },
      { key: 'small', limit: limitOf(30, HOUR), cost: 1 },
    ];
    const taken = await Promise.all(Array.from({ length: 120 }, async () => store.takeAll(takes)));
    expect(taken.filter((each) => each.every((bucket) => bucket?.allowed))).toHaveLength(30);
    expect(calls.length).toBeLessThan(20);
    expect(await inner.take({ key: 'large', limit: limitOf(40, HOUR), cost: 10 })).toMatchObject({
      allowed: true,
      remaining: 0,
    });
  });

  it('RL-10: a unit at hand and one in the store serve a request for two', async () => {
    const { inner, now, calls } = countedStore();
    const store = createLeasingStore(inner, { now });
    const shared = { key: 'shared', limit: busy, cost: 1 };
    await store.take(shared);
    await inner.take({ ...shared, cost: 589 });
    for (let spent = 0; spent < 8; spent++) await store.take(shared);
    await settle();
    calls.length = 0;
    const own = { key: 'own', limit: limitOf(10, HOUR), cost: 2 };
    const taken = await store.takeAll([own, { ...shared, cost: 2 }]);
    expect(taken.map((each) => each?.allowed)).toEqual([true, true]);
    expect(calls.length).toBeLessThan(5);
  });

  it('RL-13: what was fetched for a request is of use, however long it took to come', async () => {
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

  it('RL-10: one key empty, as much is leased of it as what is left of the other can be spent with', async () => {
    const { inner, now, calls } = countedStore();
    const store = createLeasingStore(inner, { now });
    const [scarce, plenty] = [
      { key: 'scarce', limit: limitOf(5, HOUR), cost: 1 },
      { key: 'plenty', limit: limitOf(60, HOUR), cost: 1 },
    ];
    await Promise.all(Array.from({ length: 3 }, async () => store.takeAll([scarce])));
    calls.length = 0;
    const taken = await Promise.all(Array.from({ length: 50 }, async () => store.takeAll([plenty, scarce])));
    expect(taken.filter((each) => each.every((bucket) => bucket?.allowed))).toHaveLength(2);
    expect((await inner.take({ ...plenty, cost: 58 })).allowed).toBe(true);
    expect(calls.length).toBeLessThan(20);
  });

  it('RL-2: remaining is never more than what a bucket without leases would say, and never negative', async () => {
    await fc.assert(
      fc.asyncProperty(walk, limits, async (steps, limit) => {
        const { inner, now, clock } = countedStore();
        const take = taking(createLeasingStore(inner, { now }), limit);
        let tat: number | undefined;
        for (const { wait, cost } of steps) {
          clock.time += wait * (emissionInterval(limit) / 1000);
          const taken = await take(cost);
          const truth = gcra(tat, limit, cost, now());
          tat = truth.tat ?? tat;
          if (taken.allowed) expect(truth.taken.allowed).toBe(true);
          else if (truth.taken.allowed) return;
          expect(taken.remaining).toBeGreaterThanOrEqual(0);
          expect(taken.remaining).toBeLessThanOrEqual(truth.taken.remaining);
        }
      }),
      { numRuns: 300 },
    );
  });
});

/**
 * In every stretch from one admission to a later one: units <= burst + elapsed/T. That holds exactly if a bucket of
 * that size, filled at that rate, never runs below empty.
 */
function expectWithin(
  limit: Limit,
  admitted: readonly { readonly at: number; readonly cost: number }[],
): void {
  const interval = emissionInterval(limit) / 1000;
  let level = limit.burst;
  let last = admitted[0]?.at ?? 0;
  for (const { at, cost } of admitted) {
    level = Math.min(limit.burst, level + (at - last) / interval) - cost;
    last = at;
    if (level < -1e-3) expect.fail(`${-level} units too many`);
  }
}
