// Tests of leases on one gateway: store calls, renewal, and the end of a lease.
import { describe, expect, it } from 'vitest';
import { StoreUnavailable } from '../../gateway/policy/contract.ts';
import type { Taken } from '../../gateway/policy/rate-limit/limit.ts';
import { createLeasingStore } from '../../gateway/stores/leases.ts';
import { busy, countedStore, settle, taking } from './counted-store.ts';
import { HOUR, limitOf } from './rate-limit-store.ts';

describe('leases', () => {
  it('only the first take of a key waits; later ones are served from its lease at once', async () => {
    const { inner, now, calls } = countedStore();
    const take = taking(createLeasingStore(inner, { now }), busy);
    const first = take();
    expect(first).toBeInstanceOf(Promise);
    expect(await first).toMatchObject({ allowed: true, remaining: 599 });
    expect(take()).toMatchObject({ allowed: true, remaining: 598 });
    expect(calls).toEqual([10]);
  });

  it('a lease is renewed in the background when a quarter is left, so a busy key never waits', async () => {
    const { inner, now, calls } = countedStore();
    const take = taking(createLeasingStore(inner, { now }), busy);
    await take();
    for (let i = 0; i < 300; i++) {
      expect(take()).not.toBeInstanceOf(Promise);
      await settle();
    }
    expect(calls.length).toBeLessThan(40);
  });

  it('takes of one unit admit the whole burst and nothing more', async () => {
    const { inner, now, calls } = countedStore();
    const take = taking(createLeasingStore(inner, { now }), busy);
    const seen: Taken[] = [];
    for (let i = 0; i < 700; i++) seen.push(await take());
    expect(seen.map(({ allowed }) => allowed)).toEqual(seen.map((_, i) => i < 600));
    expect(seen.map(({ remaining }) => remaining)).toEqual(seen.map((_, i) => Math.max(0, 599 - i)));
    expect(calls.length).toBeLessThan(120);
  });

  it('concurrent takes wait for one call, which refuses those that do not fit', async () => {
    const { inner, now, calls } = countedStore();
    const take = taking(createLeasingStore(inner, { now }), limitOf(5, HOUR));
    const taken = await Promise.all(Array.from({ length: 200 }, () => take()));
    expect(taken.filter(({ allowed }) => allowed)).toHaveLength(5);
    expect(calls.length).toBeLessThanOrEqual(4);
  });

  it('many refused takes cost no store call until a unit can be there', async () => {
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

  it('a refusal expires after a second, so the store is called again', async () => {
    const { inner, now, calls, clock } = countedStore();
    const take = taking(createLeasingStore(inner, { now }), limitOf(1, HOUR));
    await take();
    expect(take()).toMatchObject({ allowed: false });
    const before = calls.length;
    clock.time += 1001;
    expect(await take()).toMatchObject({ allowed: false });
    expect(calls.length).toBe(before + 1);
  });

  it('a lease holds at most the units that refill in its life, so a rarely used key loses none', async () => {
    const { inner, now, calls, clock } = countedStore();
    const take = taking(createLeasingStore(inner, { now }), busy);
    for (let i = 0; i < 3; i++) {
      expect((await take()).remaining).toBe(599);
      clock.time += 1100;
    }
    expect(calls).toEqual([10, 10, 10]);
  });

  it('a limit that refills less than one unit in the life of a lease is leased unit by unit', async () => {
    const { inner, now, calls } = countedStore();
    const take = taking(createLeasingStore(inner, { now }), limitOf(6000, HOUR));
    for (let i = 0; i < 3; i++) await take();
    expect(calls).toEqual([1, 1, 1]);
  });

  it('a changed limit ends the lease of the old limit', async () => {
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

  it('the key that has been longest without a call is evicted', async () => {
    const { inner, now } = countedStore();
    const store = createLeasingStore(inner, { now, maxLeases: 2 });
    for (const key of ['a', 'b', 'c']) await store.take({ key, limit: busy, cost: 1 });
    expect(store.take({ key: 'c', limit: busy, cost: 1 })).not.toBeInstanceOf(Promise);
    expect(store.take({ key: 'b', limit: busy, cost: 1 })).not.toBeInstanceOf(Promise);
    expect(store.take({ key: 'a', limit: busy, cost: 1 })).toBeInstanceOf(Promise);
  });

  it('RL-13: during an outage of the store leased units are served, and other takes rejected', async () => {
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
