// How a take is settled when the store answers, and by which rule when it does not.
import { describe, expect, it } from 'vitest';
import { StoreUnavailable } from '../../gateway/policy/contract.ts';
import type { Part, Quota, RateLimitStore } from '../../gateway/policy/rate-limit/limit.ts';
import { createEmbeddedRateLimitStore } from '../../gateway/stores/embedded/rate-limit.ts';
import { createLeasingStore } from '../../gateway/stores/leases.ts';
import { createRateLimiter } from '../../gateway/stores/rate-limiter.ts';
import { limitOf, takeOne } from './rate-limit-store.ts';

const now = (): number => 0;
const limit = limitOf(10, 60_000);
const leased = { onStoreFailure: 'local', exact: false } as const;
const rule = { ...leased, shadow: false, by: 'consumer' } as const;
const take = { key: 'k', limit, cost: 1 };

function limiterOver(options: { readonly replicas?: number } = {}) {
  const buckets = createEmbeddedRateLimitStore({ now });
  const store = { up: true, calls: 0 };
  const exact: RateLimitStore = {
    take: async (asked) => {
      store.calls++;
      if (!store.up) throw new StoreUnavailable('away');
      return buckets.take(asked);
    },
    takeAll: async (asked) => {
      store.calls++;
      if (!store.up) throw new StoreUnavailable('away');
      return buckets.takeAll(asked);
    },
  };
  const limiter = createRateLimiter({
    shared: createLeasingStore(exact, { now }),
    exact,
    local: createEmbeddedRateLimitStore({ now }),
    replicas: options.replicas ?? 1,
  });
  return { limiter, store };
}

describe('the rate limiter', () => {
  it('an answer of the store is counted and names the limit it was taken from', async () => {
    const { limiter } = limiterOver();
    expect(await takeOne(limiter, take, leased)).toEqual({
      kind: 'counted',
      limit,
      rule,
      allowed: true,
      remaining: 9,
      retryAfterMs: 0,
      resetMs: 6000,
    });
  });

  it('an embedded store is answered for without a promise', () => {
    const buckets = createEmbeddedRateLimitStore({ now });
    const limiter = createRateLimiter({
      shared: buckets,
      exact: buckets,
      local: buckets,
      replicas: 1,
    });
    expect(takeOne(limiter, take, leased)).toMatchObject({ kind: 'counted', allowed: true, remaining: 9 });
  });

  it('`exact` asks the store for every take, a lease does not', async () => {
    const { limiter, store } = limiterOver();
    const large = { ...take, limit: limitOf(1000, 60_000) };
    for (let i = 0; i < 5; i++) await takeOne(limiter, large, leased);
    expect(store.calls).toBe(1);
    for (let i = 0; i < 5; i++) await takeOne(limiter, large, { ...leased, exact: true });
    expect(store.calls).toBe(6);
  });

  it('RL-13: `local` admits this gateway’s part of the limit and shows no numbers', async () => {
    const { limiter, store } = limiterOver({ replicas: 3 });
    store.up = false;
    const quotas = [];
    for (let i = 0; i < 4; i++) quotas.push(await takeOne(limiter, take, leased));
    expect(quotas).toEqual([
      ...Array.from({ length: 3 }, () => ({
        ...{ kind: 'degraded', limit, rule, allowed: true, retryAfterMs: 0 },
      })),
      { kind: 'degraded', limit, rule, allowed: false, retryAfterMs: 20_000 },
    ]);
  });

  it('RL-13: `local` admits at least one unit however many gateways there are', async () => {
    const { limiter, store } = limiterOver({ replicas: 50 });
    store.up = false;
    expect(await takeOne(limiter, take, leased)).toMatchObject({ kind: 'degraded', allowed: true });
    expect(await takeOne(limiter, take, leased)).toMatchObject({ kind: 'degraded', allowed: false });
  });

  it('RL-13: `allow` lets everything pass while the store is away, `refuse` nothing', async () => {
    const { limiter, store } = limiterOver();
    store.up = false;
    for (let i = 0; i < 20; i++) {
      expect(await takeOne(limiter, take, { onStoreFailure: 'allow', exact: true })).toMatchObject({
        kind: 'degraded',
        limit,
        allowed: true,
        retryAfterMs: 0,
      });
    }
    expect(await takeOne(limiter, take, { onStoreFailure: 'refuse', exact: true })).toMatchObject({
      kind: 'unavailable',
    });
  });

  it('RL-13: a lease in memory is spent while the store is away, and the store counts again once it is back', async () => {
    const { limiter, store } = limiterOver();
    const large = { ...take, key: 'held', limit: limitOf(1000, 60_000) };
    await takeOne(limiter, large, leased);
    store.up = false;
    expect(await takeOne(limiter, take, { ...leased, exact: true })).toMatchObject({ kind: 'degraded' });
    expect(takeOne(limiter, large, leased)).toMatchObject({ kind: 'counted', allowed: true });
    store.up = true;
    expect(await takeOne(limiter, take, { ...leased, exact: true })).toMatchObject({ kind: 'counted' });
  });

  it('an error that is no absence of the store passes through as the fault it is', async () => {
    const fail = async () => {
      throw new TypeError('a bug');
    };
    const broken: RateLimitStore = { take: fail, takeAll: fail };
    const limiter = createRateLimiter({
      shared: broken,
      exact: broken,
      local: broken,
      replicas: 1,
    });
    await expect(takeOne(limiter, take, leased)).rejects.toThrow(TypeError);
  });

  const several = (changes: readonly Partial<Part['rule']>[], limits: readonly number[] = []): Part[] =>
    changes.map((change, index) => ({
      key: `{k}:${index}`,
      limit: { ...limitOf(limits[index] ?? 10, 60_000), name: `limit-${index}` },
      cost: 1,
      rule: { ...rule, ...change },
    }));
  const spoken = (quotas: readonly Quota[]) =>
    quotas.map((quota) => {
      const passes = quota.kind !== 'unavailable' && quota.allowed;
      return `${quota.limit.name} ${quota.kind}${passes ? '' : ', refused'}`;
    });

  it('one exact limit asks the store for all limits of its request in one call', async () => {
    const { limiter, store } = limiterOver();
    await limiter.take(several([{}, { exact: true }]));
    await limiter.take(several([{}, { exact: true }]));
    expect(store.calls).toBe(2);
  });

  it('a limit in shadow is not asked when another refuses, and refuses nothing itself', async () => {
    const { limiter } = limiterOver();
    const parts = several([{}, { shadow: true }], [2, 1]);
    const seen = [await limiter.take(parts), await limiter.take(parts), await limiter.take(parts)];
    expect(seen.map(spoken)).toEqual([
      ['limit-0 counted', 'limit-1 counted'],
      ['limit-0 counted', 'limit-1 counted, refused'],
      ['limit-0 counted, refused'],
    ]);
  });

  it('RL-13: with the store away each limit goes by its own rule, and one that may not be guessed takes of none', async () => {
    const { limiter, store } = limiterOver({ replicas: 2 });
    store.up = false;
    const mixed = several([{ onStoreFailure: 'allow' }, {}], [10, 2]);
    expect(spoken(await limiter.take(mixed))).toEqual(['limit-0 degraded', 'limit-1 degraded']);
    const refusing = several([{ onStoreFailure: 'refuse' }, {}], [10, 2]);
    expect(spoken(await limiter.take(refusing))).toEqual(['limit-0 unavailable, refused']);
    expect(spoken(await limiter.take(mixed))).toEqual(['limit-0 degraded', 'limit-1 degraded, refused']);
  });

  it('RL-13: a store that is away stands in the way of no limit in shadow', async () => {
    const { limiter, store } = limiterOver();
    store.up = false;
    const parts = several([{}, { shadow: true, onStoreFailure: 'refuse' }]);
    expect(spoken(await limiter.take(parts))).toEqual(['limit-0 degraded', 'limit-1 unavailable, refused']);
  });
});
