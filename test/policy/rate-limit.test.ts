// The limiter's arithmetic and what clients are told of it.
import fc from 'fast-check';
import { parseList } from 'structured-headers';
import { describe, expect, it } from 'vitest';
import { emissionInterval, gcra } from '../../gateway/policy/rate-limit/gcra.ts';
import type { Limit, Quota, Taken } from '../../gateway/policy/rate-limit/limit.ts';
import { lowerLimit } from '../../gateway/policy/rate-limit/lowering.ts';
import { quotaLines } from '../../gateway/policy/rate-limit/quota-headers.ts';
import { retryAfterSeconds } from '../../gateway/policy/rate-limit/retry-after.ts';
import { bucketKey, bucketName } from '../../gateway/policy/rate-limit/subject.ts';

/** One bucket, as a store would keep it. */
function bucket(limit: Limit) {
  let tat: number | undefined;
  return (now: number, cost = 1): Taken => {
    const outcome = gcra(tat, limit, cost, now);
    tat = outcome.tat ?? tat;
    return outcome.taken;
  };
}

const five: Limit = { name: 'default', units: 5, windowMs: 10_000, burst: 5 };
const limits = fc
  .record({
    units: fc.integer({ min: 1, max: 5000 }),
    windowMs: fc.integer({ min: 1, max: 86_400_000 }),
    burst: fc.integer({ min: 1, max: 5000 }),
  })
  .map(
    ({ units, windowMs, burst }): Limit => ({
      name: 'default',
      units,
      windowMs,
      burst: Math.min(burst, units),
    }),
  );

describe('GCRA', () => {
  it('RL-9: the reference sequence of five units in ten seconds', () => {
    const take = bucket(five);
    const times = [0, 0, 0, 0, 0, 0, 1, 2, 2, 10];
    const seen = times.map((second) => {
      const { allowed, remaining, retryAfterMs } = take(second * 1000);
      return allowed ? `r=${remaining}` : `retry ${retryAfterMs / 1000}`;
    });
    expect(seen).toEqual(['r=4', 'r=3', 'r=2', 'r=1', 'r=0', 'retry 2', 'retry 1', 'r=0', 'retry 2', 'r=3']);
  });

  it('RL-9: reset is the time to full, or to the next unit when none is left', () => {
    const take = bucket(five);
    expect([0, 0, 0, 0, 0, 0].map((now) => take(now).resetMs)).toEqual([2000, 4000, 6000, 8000, 2000, 2000]);
  });

  it('RL-9: a refusal stores nothing, so that trying does not cost', () => {
    expect(gcra(10_000_000, five, 1, 0).tat).toBeUndefined();
  });

  it('takes a cost whole or not at all', () => {
    const take = bucket(five);
    expect(take(0, 4)).toMatchObject({ allowed: true, remaining: 1 });
    expect(take(0, 2)).toMatchObject({ allowed: false, remaining: 1, retryAfterMs: 2000 });
    expect(take(0, 1)).toMatchObject({ allowed: true, remaining: 0 });
    expect(bucket(five)(0, 6).allowed).toBe(false);
  });

  it('a clock set back, or a limit lowered by a reload, does not refuse until the old time comes', () => {
    const take = bucket(five);
    take(3_600_000);
    expect(take(0)).toMatchObject({ allowed: false, retryAfterMs: 2000 });
    expect(take(2000).allowed).toBe(true);
  });

  it('RL-10: a rate that does not divide its window is never exceeded', () => {
    expect(emissionInterval({ ...five, units: 7, windowMs: 60_000 })).toBe(8_571_429);
  });

  it('RL-8: never admits more than burst + elapsed/T in any stretch of time', () => {
    const gap = fc.oneof(
      fc.constant(0),
      fc.integer({ min: 0, max: 50 }),
      fc.integer({ min: 0, max: 100_000 }),
    );
    fc.assert(
      fc.property(
        limits,
        fc.array(fc.tuple(gap, fc.integer({ min: 1, max: 3 })), { maxLength: 60 }),
        (limit, steps) => {
          const take = bucket(limit);
          const admitted: { now: number; cost: number }[] = [];
          let now = 1_780_272_000_000;
          for (const [wait, cost] of steps) {
            now += wait;
            if (take(now, cost).allowed) admitted.push({ now, cost });
          }
          admitted.forEach((first, from) => {
            let sum = 0;
            for (const each of admitted.slice(from)) {
              sum += each.cost;
              expect(sum).toBeLessThanOrEqual(
                limit.burst + ((each.now - first.now) * 1000) / emissionInterval(limit),
              );
            }
          });
        },
      ),
    );
  });

  it('keeps its word: what remains can be taken, and a refused client who waits is admitted', () => {
    fc.assert(
      fc.property(limits, fc.integer({ min: 0, max: 20 }), (limit, used) => {
        const take = bucket(limit);
        const now = 1_780_272_000_000;
        let taken = take(now);
        for (let count = 0; count < used; count += 1) taken = take(now);
        expect(taken.remaining).toBeGreaterThanOrEqual(0);
        if (taken.remaining > 0) expect(take(now, taken.remaining).allowed).toBe(true);
        const refused = take(now);
        expect(refused).toMatchObject({ allowed: false, remaining: 0 });
        expect(refused.retryAfterMs).toBeGreaterThan(0);
        expect(refused.retryAfterMs).toBe(refused.resetMs);
        expect(take(now + refused.retryAfterMs).allowed).toBe(true);
      }),
    );
  });
});

describe('lowered limits', () => {
  const base: Limit = { name: 'default', units: 600, windowMs: 60_000, burst: 300 };

  it('RL-11: a factor lowers rate and burst', () => {
    expect(lowerLimit(base, { kind: 'factor', factor: 0.5 })).toEqual({
      name: 'deprecated',
      units: 300,
      windowMs: 60_000,
      burst: 150,
    });
  });

  it('RL-11: an absolute limit has its own window', () => {
    const lowered = lowerLimit(base, { kind: 'absolute', units: 10, windowMs: 1000 });
    expect(lowered).toEqual({ name: 'deprecated', units: 10, windowMs: 1000, burst: 10 });
  });

  it('RL-11: never below one', () => {
    expect(lowerLimit(base, { kind: 'factor', factor: 0 })).toMatchObject({ units: 1, burst: 1 });
    expect(lowerLimit(base, { kind: 'absolute', units: 0, windowMs: 1000 })).toMatchObject({
      units: 1,
      burst: 1,
    });
  });

  it('a factor means what a person would compute', () => {
    expect(lowerLimit({ ...base, units: 100 }, { kind: 'factor', factor: 0.29 }).units).toBe(29);
  });

  it('RL-11: stays between one and the base, with a burst no larger than the rate', () => {
    fc.assert(
      fc.property(limits, fc.double({ min: 0, max: 2, noNaN: true }), (limit, factor) => {
        const lowered = lowerLimit(limit, { kind: 'factor', factor });
        expect(lowered.units).toBeGreaterThanOrEqual(1);
        expect(lowered.units).toBeLessThanOrEqual(limit.units);
        expect(lowered.burst).toBeGreaterThanOrEqual(1);
        expect(lowered.burst).toBeLessThanOrEqual(lowered.units);
        expect(Number.isInteger(lowered.units) && Number.isInteger(lowered.burst)).toBe(true);
      }),
    );
  });
});

describe('bucket keys', () => {
  const caller = { consumer: { id: 'acme' }, clientAddress: '192.0.2.7' };
  const bucket = bucketName('orders', 'v1', 'default');

  it('RL-12: names API, version, limit and consumer, the subject first as the hash tag of a cluster', () => {
    expect(bucketKey(bucket, 'consumer', caller)).toBe('{consumer:acme}:orders:v1:default');
  });

  it('RL-12: counts by address when so configured, or when nobody is authenticated', () => {
    const byAddress = '{address:192.0.2.7}:orders:v1:default';
    expect(bucketKey(bucket, 'address', caller)).toBe(byAddress);
    expect(bucketKey(bucket, 'consumer', { ...caller, consumer: undefined })).toBe(byAddress);
  });

  it('counts everyone together where the limit is one for all', () => {
    expect(bucketKey(bucket, 'everyone', caller)).toBe('{everyone:orders:v1:default}');
  });

  it('RL-11, RL-12: two subjects share a bucket only when they are the same, whatever their names hold', () => {
    const word = fc.stringMatching(/^[a:%}]{0,4}$/);
    const drawn = fc.record({
      api: fc.stringMatching(/^[a:%]{0,4}$/),
      scope: word,
      limit: fc.stringMatching(/^[a:%]{0,4}$/),
      by: fc.constantFrom('consumer' as const, 'address' as const, 'everyone' as const),
      consumer: fc.record({
        id: fc.oneof(
          word,
          word.map((text) => `address:${text}`),
          word.map((text) => `a}:${text}:v1:default`),
        ),
      }),
      clientAddress: word,
    });
    type Drawn = typeof drawn extends fc.Arbitrary<infer T> ? T : never;
    const key = (each: Drawn) => bucketKey(bucketName(each.api, each.scope, each.limit), each.by, each);
    const whoOf = {
      consumer: (each: Drawn) => each.consumer.id,
      address: (each: Drawn) => each.clientAddress,
    };
    const identity = (each: Drawn) =>
      JSON.stringify([
        ...[each.api, each.scope, each.limit, each.by],
        each.by === 'everyone' ? '' : whoOf[each.by](each),
      ]);
    fc.assert(
      fc.property(drawn, drawn, (a, b) => {
        expect(key(a) === key(b)).toBe(identity(a) === identity(b));
      }),
      { numRuns: 1000 },
    );
  });
});

describe('quota lines', () => {
  const rule = { onStoreFailure: 'local', exact: false, shadow: false, by: 'consumer' } as const;
  const quota: Extract<Quota, { kind: 'counted' }> = {
    kind: 'counted',
    rule,
    limit: { ...five, units: 600, windowMs: 60_000 },
    allowed: true,
    remaining: 42,
    retryAfterMs: 0,
    resetMs: 16_001,
  };

  it('RL-2, RL-3: limit, remaining and the draft fields', () => {
    expect(quotaLines([quota])).toEqual({
      replace: [
        ['x-ratelimit-limit', '600'],
        ['x-ratelimit-remaining', '42'],
      ],
      append: [
        ['ratelimit-policy', '"default";q=600;w=60'],
        ['ratelimit', '"default";r=42;t=17'],
      ],
    });
  });

  it('RL-13: no numbers while the store is away', () => {
    const none = { replace: [], append: [] };
    expect(quotaLines([{ kind: 'degraded', rule, limit: five, allowed: true, retryAfterMs: 0 }])).toEqual(
      none,
    );
    expect(quotaLines([{ kind: 'unavailable', rule, limit: five }])).toEqual(none);
  });

  it('promise 29, RL-3, RL-4: every quota gives whole numbers of at least nought, and t is never after Retry-After', () => {
    fc.assert(
      fc.property(limits, fc.integer({ min: 0, max: 30 }), (limit, used) => {
        const take = bucket(limit);
        let taken = take(0);
        for (let count = 0; count < used; count += 1) taken = take(0);
        const { replace, append } = quotaLines([{ kind: 'counted', rule, limit, ...taken }]);
        for (const [name, value] of replace) expect(`${name}: ${value}`).toMatch(/^x-ratelimit-[a-z]+: \d+$/);
        const wait = retryAfterSeconds(taken);
        expect(Number.isSafeInteger(wait) && wait >= 1).toBe(true);
        const lines = new Map(append);
        const [policy] = parseList(lines.get('ratelimit-policy') ?? '');
        const [state] = parseList(lines.get('ratelimit') ?? '');
        expect(policy?.[0]).toBe('default');
        expect(policy?.[1].get('q')).toBe(limit.units);
        expect(policy?.[1].get('w')).toBeGreaterThan(0);
        expect(state?.[1].get('r')).toBe(taken.remaining);
        if (!taken.allowed) expect(state?.[1].get('t')).toBeLessThanOrEqual(wait);
      }),
    );
  });

  it.each([
    [0, 1],
    [0.5, 1],
    [1000, 1],
    [1000.001, 2],
    [5999, 6],
  ])('RL-1: %d ms is said as Retry-After: %i', (retryAfterMs, seconds) => {
    expect(retryAfterSeconds({ retryAfterMs })).toBe(seconds);
  });
});
