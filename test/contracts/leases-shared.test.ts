// Tests of leases over several gateways and several keys: limits hold together, and the numbers are right.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { emissionInterval, gcra } from '../../gateway/policy/rate-limit/gcra.ts';
import { createLeasingStore } from '../../gateway/stores/leases.ts';
import { busy, countedStore, expectWithin, settle, taking } from './counted-store.ts';
import { HOUR, limitOf } from './rate-limit-store.ts';

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

describe('leases', () => {
  it('a small limit is leased one unit at a time, so gateways share it exactly', async () => {
    const { inner, now, calls } = countedStore();
    const limit = limitOf(20, HOUR);
    const takes = [inner, inner].map((store) => taking(createLeasingStore(store, { now }), limit));
    let admitted = 0;
    for (let i = 0; i < 30; i++) for (const take of takes) if ((await take()).allowed) admitted++;
    expect(admitted).toBe(20);
    expect(new Set(calls)).toEqual(new Set([1]));
  });

  it('RL-2: unused leases of several gateways do not reduce the burst of a steady caller', async () => {
    const { inner, now, calls, clock } = countedStore();
    const gateways = [0, 1, 2, 3].map(() => taking(createLeasingStore(inner, { now }), busy));
    const remaining: number[] = [];
    for (let call = 0; call < 600; call++) {
      const taken = await gateways[call % 4]?.();
      remaining.push(taken?.remaining ?? 0);
      clock.time += 200;
      await settle();
    }
    // Half of the rate of the limit.
    expect(Math.min(...remaining)).toBeGreaterThan(500);
    expect(calls.length).toBeLessThan(500);
    const burst = await Promise.all(Array.from({ length: 480 }, async (_, i) => gateways[i % 4]?.()));
    expect(burst.filter((taken) => taken?.allowed)).toHaveLength(480);
  });

  it('RL-8: units leased before a pause are not added to the bucket that refilled meanwhile', async () => {
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

  it('RL-8: several gateways on one bucket admit at most burst + elapsed/T in any period', async () => {
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
        // Takes all remaining units at once, which reveals units that were leased too often.
        for (const take of gateways) {
          for (let taken = await take(); taken.allowed; taken = await take())
            admitted.push({ at: now(), cost: 1 });
        }
        expectWithin(limit, admitted);
      }),
      { numRuns: 100 },
    );
  });

  it('RL-8: requests with two leased limits take both or none, and keep within both limits', async () => {
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

  it('a limit that refuses every request takes no units from the other limits', async () => {
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

  it('RL-10: 120 concurrent requests for two keys need few calls, and take only admitted units', async () => {
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

  it('RL-10: one unit held and one in the store serve a request for two', async () => {
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

  it('RL-10: if one of two keys has few units left, few units of the other key are leased', async () => {
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

  it('RL-2: expired units are counted once after a refusal', async () => {
    const { inner, now, clock } = countedStore();
    const limit = limitOf(600, 60_000, 40);
    await inner.take({ key: 'k', limit, cost: 3 });
    const take = taking(createLeasingStore(inner, { now }), limit);
    expect(await take()).toMatchObject({ remaining: 36 });
    // One of the three held units expires.
    clock.time += 500;
    expect(await inner.take({ key: 'k', limit, cost: 36 })).toMatchObject({ remaining: 2 });
    expect(await take(10)).toMatchObject({ allowed: false, remaining: 4 });
    expect(await take()).toMatchObject({ allowed: true, remaining: 3 });
  });

  it('RL-2: remaining is never more than that of a bucket without leases, and never negative', async () => {
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
