// Tests of leases that are partly unused: the rest is not lost and never exceeds the limit.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { StoreUnavailable } from '../../gateway/policy/contract.ts';
import { emissionInterval } from '../../gateway/policy/rate-limit/gcra.ts';
import type { Limit, RateLimitStore } from '../../gateway/policy/rate-limit/limit.ts';
import { createEmbeddedRateLimitStore } from '../../gateway/stores/embedded/rate-limit.ts';
import { createLeasingStore } from '../../gateway/stores/leases.ts';
import { busy, countedStore, expectWithin, settle, taking } from './counted-store.ts';
import { HOUR, limitOf } from './rate-limit-store.ts';

const MINUTE = 60_000;
const lifeOf = ({ windowMs }: Pick<Limit, 'windowMs'>): number => Math.min(1000, windowMs / 60);

const limits = fc
  .record({
    windowMs: fc.constantFrom(1000, 10_000, MINUTE, HOUR),
    /** Units refilled in the life of a lease. */
    refill: fc.integer({ min: 1, max: 20 }),
    /** The burst, in lives of a lease until it is refilled. */
    lives: fc.integer({ min: 5, max: 120 }),
  })
  .map(({ windowMs, refill, lives }) =>
    limitOf(Math.ceil((refill * windowMs) / lifeOf({ windowMs })), windowMs, refill * lives),
  );

/** The lists repeat, each with its own length. */
const steadyUse = fc.record({
  count: fc.integer({ min: 2, max: 8 }),
  tenthsOfRate: fc.integer({ min: 12, max: 30 }),
  /** The gateway of each request; every count divides 840. */
  gateways: fc.array(fc.nat(839), { minLength: 211, maxLength: 211 }),
  /** Between two requests, in thousandths of the mean. */
  gaps: fc.array(fc.nat(2000), { minLength: 199, maxLength: 199 }),
});

const useWithPauses = fc.record({
  steps: fc.array(
    fc.record({
      gateway: fc.nat(3),
      takes: fc.integer({ min: 1, max: 20 }),
      /** In tenths of a lease's life. */
      wait: fc.oneof(fc.nat(3), fc.nat(60)),
    }),
    { minLength: 1, maxLength: 40 },
  ),
  /** The store loses its buckets before this step. */
  emptiedBefore: fc.option(fc.nat(39)),
});

/** Gateways on one store that can lose its buckets. */
function severalGateways(limit: Limit, count: number) {
  const { clock, now, calls, inner } = countedStore();
  let store: RateLimitStore = inner;
  const shared: RateLimitStore = {
    take: (take) => store.take(take),
    takeAll: (takes) => store.takeAll(takes),
  };
  const takers = Array.from({ length: count }, () => taking(createLeasingStore(shared, { now }), limit));
  return {
    clock,
    now,
    calls,
    isAdmitted: async (gateway: number): Promise<boolean> => {
      const taken = await takers[gateway % count]?.();
      await settle();
      return taken?.allowed ?? false;
    },
    takeFromStore: (cost: number) => taking(shared, limit)(cost),
    /** Returns the units that the bucket lacked. As many can be in leases. */
    emptyStore: async (): Promise<number> => {
      const { allowed, remaining } = await taking(shared, limit)(1);
      store = createEmbeddedRateLimitStore({ now });
      return limit.burst - remaining - (allowed ? 1 : 0);
    },
  };
}

describe('partly unused leases', () => {
  it('let several gateways admit nearly all that a store without leases admits above the rate', async () => {
    await fc.assert(
      fc.asyncProperty(limits, steadyUse, async (limit, { count, tenthsOfRate, gateways, gaps }) => {
        const { clock, now, isAdmitted } = severalGateways(limit, count);
        const takeExact = taking(createEmbeddedRateLimitStore({ now }), limit);
        const meanGap = emissionInterval(limit) / 100 / tenthsOfRate;
        const admitted = { leased: 0, exact: 0 };
        const end = now() + 120 * lifeOf(limit);
        for (let request = 0; now() < end; request++) {
          clock.time += Math.round((gaps[request % gaps.length] ?? 0) * meanGap) / 1000;
          if (await isAdmitted(gateways[request % gateways.length] ?? 0)) admitted.leased++;
          if ((await takeExact()).allowed) admitted.exact++;
        }
        expect(admitted.leased).toBeGreaterThanOrEqual(0.95 * admitted.exact);
      }),
      { numRuns: 30 },
    );
  });

  it.each([
    [4, 1.5],
    [8, 1.5],
    [8, 3],
  ])(
    '600/1m: %i gateways at %d times the rate use up the burst with about one call per second each',
    async (count, timesRate) => {
      const { clock, calls, isAdmitted } = severalGateways(busy, count);
      // Until the bucket is nearly empty; after that leases are single units.
      const seconds = Math.min(60, 60 / (timesRate - 1)) - 5;
      const requests = Math.floor(seconds * 10 * timesRate);
      let admitted = 0;
      for (let request = 0; request < requests; request++) {
        clock.time += 100 / timesRate;
        if (await isAdmitted((request * (request + 1)) / 2)) admitted++;
      }
      expect(admitted).toBe(requests);
      expect(calls.length).toBeLessThanOrEqual(1.1 * count * seconds);
    },
  );

  it('cause a store call for fewer units before a unit of an old lease is spent', async () => {
    const { inner, now, clock, calls, state } = countedStore();
    await inner.take({ key: 'k', limit: busy, cost: 300 });
    const take = taking(createLeasingStore(inner, { now }), busy);
    for (const remaining of [299, 298, 297]) expect(await take()).toMatchObject({ remaining });
    clock.time += 1000;
    state.broken = true;
    await expect(take()).rejects.toThrow(StoreUnavailable);
    state.broken = false;
    // Ten units were refilled.
    for (const remaining of [306, 305, 304, 303, 302])
      expect(await take()).toMatchObject({ allowed: true, remaining });
    expect(calls).toEqual([300, 10, 1, 1]);
  });

  it('are spent when the store has no unit left', async () => {
    const { clock, isAdmitted, takeFromStore } = severalGateways(limitOf(600, MINUTE, 20), 1);
    await takeFromStore(18);
    expect(await isAdmitted(0)).toBe(true);
    clock.time += 1000;
    expect(await takeFromStore(10)).toMatchObject({ allowed: true, remaining: 0 });
    expect([await isAdmitted(0), await isAdmitted(0)]).toEqual([true, false]);
  });

  it('keep their units after a refusal of the store', async () => {
    const { inner, now, clock } = countedStore();
    const limit = limitOf(600, MINUTE, 20);
    await inner.take({ key: 'k', limit, cost: 18 });
    const take = taking(createLeasingStore(inner, { now }), limit);
    expect(await take()).toMatchObject({ allowed: true, remaining: 1 });
    clock.time += 1000;
    expect(await take(15)).toMatchObject({ allowed: false, remaining: 11 });
    expect(await take(11)).toMatchObject({ allowed: true, remaining: 0 });
  });

  it.each([
    [1, 5],
    [4, 300],
  ])(
    'RL-8: units of old leases are not added to a bucket that was lost: %i gateways',
    async (count, used) => {
      const { clock, isAdmitted, takeFromStore, emptyStore } = severalGateways(busy, count);
      await takeFromStore(used);
      for (let gateway = 0; gateway < count; gateway++) expect(await isAdmitted(gateway)).toBe(true);
      await emptyStore();
      clock.time += 1000;
      let admitted = 0;
      for (let request = 0; request < 800; request++) if (await isAdmitted(request)) admitted++;
      expect(admitted).toBe(600);
    },
  );

  it('RL-8: expire when the bucket is full, earlier if the store got some units back', async () => {
    const { clock, isAdmitted, takeFromStore, emptyStore } = severalGateways(busy, 1);
    await takeFromStore(10);
    expect(await isAdmitted(0)).toBe(true);
    await emptyStore();
    clock.time += 1000;
    await takeFromStore(7);
    expect(await isAdmitted(0)).toBe(true);
    clock.time += 900;
    let admitted = 0;
    for (let request = 0; request < 800; request++) if (await isAdmitted(request)) admitted++;
    expect(admitted).toBe(600);
  });

  it('RL-8: admit at most burst + elapsed/T, and the leased units after a bucket was lost', async () => {
    await fc.assert(
      fc.asyncProperty(limits, useWithPauses, async (limit, { steps, emptiedBefore }) => {
        const { clock, now, isAdmitted, emptyStore } = severalGateways(limit, 4);
        let admitted: { at: number; cost: number }[] = [];
        let inLeases = 0;
        const take = async (gateway: number): Promise<boolean> => {
          const isOne = await isAdmitted(gateway);
          if (isOne) admitted.push({ at: now(), cost: 1 });
          return isOne;
        };
        for (const [index, { gateway, takes, wait }] of steps.entries()) {
          if (index === emptiedBefore) {
            expectWithin(limit, admitted);
            inLeases = await emptyStore();
            admitted = [];
          }
          clock.time += Math.round(wait * lifeOf(limit) * 100) / 1000;
          for (let request = 0; request < takes; request++) await take(gateway);
        }
        for (const gateway of [0, 1, 2, 3]) while (await take(gateway));
        expectWithin({ ...limit, burst: limit.burst + inLeases }, admitted);
      }),
      { numRuns: 50 },
    );
  });
});
