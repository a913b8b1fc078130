// Leases under steady use: about one store call per life of a lease, and never more units than the limit.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { emissionInterval, gcra } from '../../gateway/policy/rate-limit/gcra.ts';
import type { Limit } from '../../gateway/policy/rate-limit/limit.ts';
import { createLeasingStore } from '../../gateway/stores/leases.ts';
import { countedStore, expectWithin, settle, taking } from './counted-store.ts';
import { HOUR, limitOf } from './rate-limit-store.ts';

const MINUTE = 60_000;
const lifeOf = ({ windowMs }: Limit): number => Math.min(1000, windowMs / 60);

/** From limits that leases of one unit can serve to limits far above any use. */
const limits = fc
  .record({
    units: fc.oneof(fc.integer({ min: 1, max: 2000 }), fc.integer({ min: 2000, max: 6_000_000 })),
    windowMs: fc.constantFrom(1000, 10_000, MINUTE, HOUR),
    burst: fc.double({ min: 1 / 6, max: 2, noNaN: true }),
  })
  .map(({ units, windowMs, burst }) => limitOf(units, windowMs, Math.ceil(units * burst)));

const randomUse = fc.array(
  fc.record({
    gateway: fc.nat(3),
    /** As a share of a lease's life. */
    wait: fc.oneof(
      fc.constant(0),
      fc.double({ min: 0, max: 0.1, noNaN: true }),
      fc.double({ max: 1.5, min: 0, noNaN: true }),
    ),
    /** As a share of the burst. */
    cost: fc.oneof(fc.constant(0), fc.constant(0), fc.double({ min: 0, max: 0.3, noNaN: true })),
    takes: fc.integer({ min: 1, max: 20 }),
  }),
  { minLength: 1, maxLength: 40 },
);

const steadyUse = fc.record({
  units: fc.integer({ min: 6000, max: 6_000_000 }),
  windowMs: fc.constantFrom(MINUTE, HOUR / 2, HOUR),
  gateways: fc.integer({ min: 1, max: 4 }),
  /** Per gateway, within the life of a lease. */
  uses: fc.integer({ min: 8, max: 40 }),
  cost: fc.constantFrom(1, 1, 2, 5),
  /** Whether each request also takes from another limit. */
  beside: fc.boolean(),
  gaps: fc.array(fc.double({ min: 0.6, max: 1.4, noNaN: true }), { minLength: 20, maxLength: 20 }),
});

describe('leases of keys in steady use', () => {
  it.each([
    ['600/1m', limitOf(600, MINUTE), 5],
    ['60000/1m', limitOf(60_000, MINUTE), 8],
    ['6000000/1m', limitOf(6_000_000, MINUTE, 9_000_000), 40],
  ] as const)(
    '%s: about one call per second, and only the first requests wait',
    async (_name, limit, rate) => {
      const { inner, now, clock, calls } = countedStore();
      const take = taking(createLeasingStore(inner, { now }), limit);
      let waited = 0;
      for (let use = 0; use < 30 * rate; use++) {
        const taking = take();
        if (taking instanceof Promise) waited += 1;
        expect(await taking).toMatchObject({ allowed: true });
        await settle();
        clock.time += 1000 / rate;
      }
      expect(calls.length).toBeLessThanOrEqual(30 / 0.75 + 2);
      expect(waited).toBeLessThanOrEqual(2);
    },
  );

  it('need about one call per life of a lease, for any limit and number of gateways', async () => {
    await fc.assert(
      fc.asyncProperty(steadyUse, async ({ units, windowMs, gateways, uses, cost, beside, gaps }) => {
        const limit = limitOf(units, windowMs);
        const life = lifeOf(limit);
        // At most half of the rate of the limit.
        fc.pre(gateways * uses * cost <= (life * 1000) / emissionInterval(limit) / 2);
        const { inner, now, clock, calls } = countedStore();
        const takes = ['k', ...(beside ? ['other'] : [])].map((key) => ({ key, limit, cost }));
        const stores = Array.from({ length: gateways }, () => createLeasingStore(inner, { now }));
        const lives = 20;
        let waited = 0;
        for (let use = 0; use < lives * uses; use++) {
          for (const store of stores) {
            const taken = store.takeAll(takes);
            if (taken instanceof Promise) waited += 1;
            for (const each of await taken) expect(each).toMatchObject({ allowed: true });
            await settle();
          }
          clock.time += (life / uses) * (gaps[use % gaps.length] ?? 1);
        }
        // One renewal per three quarters of a life, and a few calls until the use is known.
        expect(calls.length).toBeLessThanOrEqual(takes.length * gateways * (lives / 0.75 + 8));
        expect(waited).toBeLessThanOrEqual(gateways * 3);
      }),
      { numRuns: 60 },
    );
  });

  it('RL-8: several gateways admit at most burst + elapsed/T in any period, for any limit', async () => {
    await fc.assert(
      fc.asyncProperty(randomUse, limits, async (steps, limit) => {
        const { inner, now, clock } = countedStore();
        const takers = [0, 1, 2, 3].map(() => taking(createLeasingStore(inner, { now }), limit));
        const admitted: { at: number; cost: number }[] = [];
        for (const { gateway, wait, cost, takes } of steps) {
          // Whole microseconds, the unit of the store.
          clock.time += Math.round(wait * lifeOf(limit) * 1000) / 1000;
          const units = Math.max(1, Math.floor(cost * limit.burst));
          const taken = await Promise.all(
            Array.from({ length: takes }, async () => takers[gateway]?.(units)),
          );
          await settle();
          for (const each of taken) if (each?.allowed) admitted.push({ at: now(), cost: units });
        }
        // Takes all remaining units at once, which reveals units that were leased too often.
        for (const take of takers)
          for (let cost = limit.burst; cost >= 1; cost = Math.floor(cost / 2))
            while ((await take(cost)).allowed) admitted.push({ at: now(), cost });
        expectWithin(limit, admitted);
      }),
      { numRuns: 200 },
    );
  });

  it('RL-2: remaining of one gateway is at most one second of use below the true number', async () => {
    for (const [limit, rate] of [
      [limitOf(600, MINUTE), 5],
      [limitOf(60_000, MINUTE), 40],
    ] as const) {
      const { inner, now, clock } = countedStore();
      const take = taking(createLeasingStore(inner, { now }), limit);
      let tat: number | undefined;
      for (let use = 0; use < 10 * rate; use++) {
        const truth = gcra(tat, limit, 1, now());
        tat = truth.tat;
        const { remaining } = await take();
        expect(remaining).toBeLessThanOrEqual(truth.taken.remaining);
        expect(remaining).toBeGreaterThanOrEqual(truth.taken.remaining - rate);
        await settle();
        clock.time += 1000 / rate;
      }
    }
  });

  it('RL-2: two gateways in turn show nearly equal remaining units, close to the true number', async () => {
    const { inner, now, clock } = countedStore();
    const limit = limitOf(60_000, MINUTE);
    const takers = [0, 1].map(() => taking(createLeasingStore(inner, { now }), limit));
    const shown: number[] = [];
    for (let use = 0; use < 480; use++) {
      shown.push((await takers[use % 2]?.())?.remaining ?? 0);
      await settle();
      clock.time += 125;
    }
    const settled = shown.slice(240);
    expect(Math.min(...settled)).toBeGreaterThan(0.98 * limit.burst);
    expect(Math.max(...settled) - Math.min(...settled)).toBeLessThan(0.01 * limit.burst);
  });

  it('RL-9: a caller at its limit gets all units from two gateways, whatever they have leased', async () => {
    const { inner, now, clock } = countedStore();
    const limit = limitOf(600, MINUTE);
    const takers = [0, 1].map(() => taking(createLeasingStore(inner, { now }), limit));
    let admitted = 0;
    for (let use = 0; use < 3600; use++) {
      if ((await takers[use % 2]?.())?.allowed) admitted += 1;
      await settle();
      clock.time += 50;
    }
    // The burst, and the refill of three minutes.
    expect(admitted).toBeGreaterThan(0.99 * 2400);
    expect(admitted).toBeLessThanOrEqual(2400);
  });

  it('RL-8: units leased before the store lost its buckets are not added to the new ones', async () => {
    const before = countedStore();
    const after = countedStore();
    let store = before.inner;
    const limit = limitOf(600, MINUTE);
    const now = () => before.clock.time;
    const leased = createLeasingStore(
      { take: (take) => store.take(take), takeAll: (takes) => store.takeAll(takes) },
      { now },
    );
    const take = taking(leased, limit);
    await before.inner.take({ key: 'k', limit, cost: 300 });
    await take();
    await take(5);
    await settle();
    store = after.inner;
    before.clock.time += 900;
    after.clock.time = before.clock.time;
    let admitted = 0;
    expect((await take()).allowed).toBe(true);
    await settle();
    while ((await take()).allowed) admitted += 1;
    expect(admitted).toBeLessThanOrEqual(600);
  });
});
