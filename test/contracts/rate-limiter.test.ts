// Tests of the rate limiter: takes with an answer of the store, and the rules for an unavailable store.
import { beforeEach, describe, expect, it } from 'vitest';
import { StoreUnavailable } from '../../gateway/policy/contract.ts';
import type { LimitPart, Quota, RateLimitStore } from '../../gateway/policy/rate-limit/limit.ts';
import { createEmbeddedRateLimitStore } from '../../gateway/stores/embedded/rate-limit.ts';
import { createLeasingStore } from '../../gateway/stores/leases.ts';
import { createRateLimiter, mirroredIn } from '../../gateway/stores/rate-limiter.ts';
import { limitOf, takeOne } from './rate-limit-store.ts';

const clock = { time: 0 };
const now = (): number => clock.time;
const limit = limitOf(10, 60_000);
const leased = { onStoreFailure: 'local', exact: false } as const;
const rule = { ...leased, shadow: false, by: 'consumer' } as const;
const take = { key: 'k', limit, cost: 1 };

function limiterOver(options: { readonly replicas?: number } = {}) {
  const buckets = createEmbeddedRateLimitStore({ now });
  const local = createEmbeddedRateLimitStore({ now, keepsDebts: true });
  const store = { up: true, calls: 0 };
  const exact = mirroredIn(local, {
    take: async (request) => {
      store.calls++;
      if (!store.up) throw new StoreUnavailable('away');
      return buckets.take(request);
    },
    takeAll: async (request) => {
      store.calls++;
      if (!store.up) throw new StoreUnavailable('away');
      return buckets.takeAll(request);
    },
  });
  const limiter = createRateLimiter({
    shared: createLeasingStore(exact, { now }),
    exact,
    local,
    replicas: options.replicas ?? 1,
  });
  return { limiter, store };
}

beforeEach(() => {
  clock.time = 0;
});

describe('the rate limiter', () => {
  it('an answer of the store is counted and names its limit', async () => {
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

  it('an embedded store answers without a promise', () => {
    const buckets = createEmbeddedRateLimitStore({ now });
    const limiter = createRateLimiter({
      shared: buckets,
      exact: buckets,
      local: buckets,
      replicas: 1,
    });
    expect(takeOne(limiter, take, leased)).toMatchObject({ kind: 'counted', allowed: true, remaining: 9 });
  });

  it('`exact` calls the store for every take; a lease does not', async () => {
    const { limiter, store } = limiterOver();
    const large = { ...take, limit: limitOf(1000, 60_000) };
    for (let i = 0; i < 5; i++) await takeOne(limiter, large, leased);
    expect(store.calls).toBe(1);
    for (let i = 0; i < 5; i++) await takeOne(limiter, large, { ...leased, exact: true });
    expect(store.calls).toBe(6);
  });

  it('RL-13: `local` admits this gateway’s share of the limit and shows no numbers', async () => {
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

  it('RL-13: `local` admits at least one unit with any number of gateways', async () => {
    const { limiter, store } = limiterOver({ replicas: 50 });
    store.up = false;
    expect(await takeOne(limiter, take, leased)).toMatchObject({ kind: 'degraded', allowed: true });
    expect(await takeOne(limiter, take, leased)).toMatchObject({ kind: 'degraded', allowed: false });
  });

  it.each([
    ['room for it', 2, undefined, 5, 60_000],
    ['room for less than one call', 5, undefined, 5, 150_000],
    ['one unit', 50, undefined, 5, 300_000],
    ['room for less than one call of a sliding log', 5, 'sliding-log', 5, 60_000],
  ] as const)(
    'RL-13: cost 5 is admitted if the share of the gateway has %s, and again after the refill',
    async (_what, replicas, algorithm, cost, everyMs) => {
      const { limiter, store } = limiterOver({ replicas });
      store.up = false;
      const costly = { key: 'k', limit: algorithm === undefined ? limit : { ...limit, algorithm }, cost };
      const first = await takeOne(limiter, costly, leased);
      expect(first).toMatchObject({ kind: 'degraded', allowed: true });
      const refused = await takeOne(limiter, costly, leased);
      expect(refused).toMatchObject({ kind: 'degraded', allowed: false, retryAfterMs: everyMs });
      clock.time = everyMs - 1;
      expect(await takeOne(limiter, costly, leased)).toMatchObject({ allowed: false, retryAfterMs: 1 });
      clock.time = everyMs;
      expect(await takeOne(limiter, costly, leased)).toMatchObject({ allowed: true });
    },
  );

  it('RL-13: after one expensive take, cheap takes wait until its units have refilled', async () => {
    const { limiter, store } = limiterOver({ replicas: 5 });
    store.up = false;
    expect(await takeOne(limiter, { ...take, cost: 5 }, leased)).toMatchObject({ allowed: true });
    // Its share holds two. A unit is back when four of the five have refilled, one per 30 s.
    const seen = [];
    for (clock.time = 0; clock.time <= 150_000; clock.time += 30_000)
      seen.push(await takeOne(limiter, take, leased));
    expect(seen.map((quota) => quota.kind === 'degraded' && (quota.allowed || quota.retryAfterMs))).toEqual([
      ...[120_000, 90_000, 60_000, 30_000],
      ...[true, true],
    ]);
  });

  it.each([{ exact: true }, { exact: false }])(
    'RL-13: the fallback starts from the last answer of the store, exact: $exact',
    async (rule) => {
      const { limiter, store } = limiterOver({ replicas: 2 });
      for (let i = 0; i < 6; i++) await takeOne(limiter, take, { ...leased, ...rule });
      store.up = false;
      const quotas = [];
      for (let i = 0; i < 6; i++) quotas.push(await takeOne(limiter, take, { ...leased, ...rule }));
      // 4 of 10 units are left, 2 of them for this gateway.
      expect(quotas.map((quota) => quota.kind === 'degraded' && quota.allowed)).toEqual(
        quotas.map((_, i) => i < 2),
      );
    },
  );

  it.each([{ exact: true }, { exact: false }])(
    'RL-8, RL-13: repeated outages grant no new share to a subject at its limit, exact: $exact',
    async (rule) => {
      const { limiter, store } = limiterOver({ replicas: 2 });
      const hourly = { ...take, limit: limitOf(60, 3_600_000) };
      const seen = { admitted: 0, away: 0 };
      const ask = async (): Promise<void> => {
        const quota = await takeOne(limiter, hourly, { ...leased, ...rule });
        if (quota.kind !== 'unavailable' && quota.allowed) seen.admitted += 1;
      };
      for (let i = 0; i < 60; i++) await ask();
      for (clock.time = 0; clock.time < 3_600_000; clock.time += 5_000) {
        store.up = clock.time % 60_000 < 30_000;
        if (!store.up) seen.away += 5_000;
        await ask();
      }
      const [every, everyOfPart] = [60_000, 120_000];
      expect(seen.admitted).toBeLessThanOrEqual(60 + 3_600_000 / every + seen.away / everyOfPart);
      expect(seen.admitted).toBeGreaterThan(60 + 30);
    },
  );

  it('RL-13: while the store is unavailable, `allow` admits every request and `refuse` none', async () => {
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

  it('RL-13: a lease is spent during an outage of the store, and the store counts afterwards', async () => {
    const { limiter, store } = limiterOver();
    const large = { ...take, key: 'held', limit: limitOf(1000, 60_000) };
    await takeOne(limiter, large, leased);
    store.up = false;
    expect(await takeOne(limiter, take, { ...leased, exact: true })).toMatchObject({ kind: 'degraded' });
    expect(takeOne(limiter, large, leased)).toMatchObject({ kind: 'counted', allowed: true });
    store.up = true;
    expect(await takeOne(limiter, take, { ...leased, exact: true })).toMatchObject({ kind: 'counted' });
  });

  it('an error other than StoreUnavailable is passed on as a fault', async () => {
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

  const several = (
    changes: readonly Partial<LimitPart['rule']>[],
    limits: readonly number[] = [],
  ): LimitPart[] =>
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

  it('one exact limit makes one store call for all limits of its request', async () => {
    const { limiter, store } = limiterOver();
    await limiter.take(several([{}, { exact: true }]));
    await limiter.take(several([{}, { exact: true }]));
    expect(store.calls).toBe(2);
  });

  it('a shadow limit is not taken if another limit refuses, and never refuses itself', async () => {
    const { limiter } = limiterOver();
    const parts = several([{}, { shadow: true }], [2, 1]);
    const seen = [await limiter.take(parts), await limiter.take(parts), await limiter.take(parts)];
    expect(seen.map(spoken)).toEqual([
      ['limit-0 counted', 'limit-1 counted'],
      ['limit-0 counted', 'limit-1 counted, refused'],
      ['limit-0 counted, refused'],
    ]);
  });

  it('RL-13: during an outage each limit follows its own rule, and `refuse` takes no units', async () => {
    const { limiter, store } = limiterOver({ replicas: 2 });
    store.up = false;
    const mixed = several([{ onStoreFailure: 'allow' }, {}], [10, 2]);
    expect(spoken(await limiter.take(mixed))).toEqual(['limit-0 degraded', 'limit-1 degraded']);
    const refusing = several([{ onStoreFailure: 'refuse' }, {}], [10, 2]);
    expect(spoken(await limiter.take(refusing))).toEqual(['limit-0 unavailable, refused']);
    expect(spoken(await limiter.take(mixed))).toEqual(['limit-0 degraded', 'limit-1 degraded, refused']);
  });

  it('RL-13: an unavailable store does not affect shadow limits', async () => {
    const { limiter, store } = limiterOver();
    store.up = false;
    const parts = several([{}, { shadow: true, onStoreFailure: 'refuse' }]);
    expect(spoken(await limiter.take(parts))).toEqual(['limit-0 degraded', 'limit-1 unavailable, refused']);
  });

  it('RL-13: a shadow limit gets only the time that the other limits have left of the deadline', async () => {
    const budgetMs = 40;
    const never = mirroredIn(createEmbeddedRateLimitStore({ now }), {
      take: () => new Promise<never>(() => undefined),
      takeAll: () =>
        new Promise<never>((_, reject) => setTimeout(() => reject(new StoreUnavailable('late')), budgetMs)),
    });
    const local = createEmbeddedRateLimitStore({ now, keepsDebts: true });
    const limiter = createRateLimiter({ shared: never, exact: never, local, replicas: 1, budgetMs });
    const partOfLimit = (key: string, shadow: boolean): LimitPart => ({
      ...take,
      key,
      rule: { ...rule, exact: true, shadow },
    });
    const parts = [
      partOfLimit('a', false),
      partOfLimit('b', false),
      partOfLimit('c', true),
      partOfLimit('d', true),
    ];
    const begun = performance.now();
    const quotas = await limiter.take(parts);
    expect(performance.now() - begun).toBeLessThan(10 * budgetMs);
    expect(quotas).toMatchObject(parts.map(({ rule }) => ({ kind: 'degraded', allowed: true, rule })));
  });
});
