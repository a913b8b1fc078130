// Leases: how seldom they ask the store, and what ends one.
// Beside it: several gateways and keys on one store, and a store whose answers come late.
import { describe, expect, it } from 'vitest';
import { StoreUnavailable } from '../../gateway/policy/contract.ts';
import type { Taken } from '../../gateway/policy/rate-limit/limit.ts';
import { createLeasingStore } from '../../gateway/stores/leases.ts';
import { busy, countedStore, settle, taking } from './counted-store.ts';
import { HOUR, limitOf } from './rate-limit-store.ts';

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
});
