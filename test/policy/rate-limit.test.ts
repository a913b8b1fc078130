// The limiter's arithmetic and what clients are told of it.
import fc from 'fast-check';
import { parseList } from 'structured-headers';
import { describe, expect, it } from 'vitest';
import { emissionInterval, gcra } from '../../gateway/policy/rate-limit/gcra.ts';
import type { Limit, Quota, Take, Taken } from '../../gateway/policy/rate-limit/limit.ts';
import { lowerLimit } from '../../gateway/policy/rate-limit/lowering.ts';
import { quotaLines } from '../../gateway/policy/rate-limit/quota-headers.ts';
import { retryAfterSeconds } from '../../gateway/policy/rate-limit/retry-after.ts';
import { slidingLog } from '../../gateway/policy/rate-limit/sliding-log.ts';
import { bucketKey, bucketName } from '../../gateway/policy/rate-limit/subject.ts';
import {
  createEmbeddedRateLimitStore,
  type EmbeddedRateLimitStore,
} from '../../gateway/stores/embedded/rate-limit.ts';

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

  it.each<[rate: string, Limit, elapsedMs: number, passed: number]>([
    ['5/10s at the first instant', five, 0, 5],
    ['5/10s until just before the first unit is back', five, 1_999, 5],
    ['5/10s until it is', five, 2_000, 6],
    ['5/10s for a window', five, 10_000, 10],
    ['5/10s with a burst of 1', { ...five, burst: 1 }, 10_000, 6],
    ['5/10s with a burst of 20', { ...five, burst: 20 }, 10_000, 25],
    ['600/1m with a burst of 100 for 7 s', { ...five, units: 600, windowMs: 60_000, burst: 100 }, 7_000, 170],
    ['7/1m, of which none divides the window', { ...five, units: 7, windowMs: 60_000, burst: 7 }, 60_000, 13],
    ['1/1d for a day and an hour', { ...five, units: 1, windowMs: 86_400_000, burst: 1 }, 90_000_000, 2],
  ])(
    'RL-8: of %s exactly burst + floor(elapsed/T) pass for who asks always',
    (_rate, limit, elapsed, passed) => {
      const interval = emissionInterval(limit) / 1_000;
      expect(limit.burst + Math.floor(elapsed / interval)).toBe(passed);
      const take = bucket(limit);
      const instants = Array.from(
        { length: Math.floor((4 * elapsed) / interval) + 1 },
        (_, at) => (at * interval) / 4,
      );
      const asked = [...Array<number>(limit.burst).fill(0), ...instants, elapsed];
      expect(asked.filter((at) => take(at).allowed).length).toBe(passed);
    },
  );

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

describe('the sliding log', () => {
  const log = (units: number, windowMs: number): Limit => ({
    ...{ name: 'login', units, windowMs, burst: units },
    algorithm: 'sliding-log',
  });

  it('RL-8: in any window exactly its units pass: never one more, and none is refused while there is room', () => {
    const gap = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 40 }), fc.integer({ min: 0, max: 2000 }));
    const walk = fc.array(fc.tuple(gap, fc.integer({ min: 1, max: 3 })), { maxLength: 60 });
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 8 }),
        fc.integer({ min: 1, max: 1000 }),
        walk,
        (units, window, steps) => {
          const kept: number[] = [];
          const admitted: number[] = [];
          let now = 1_780_272_000_000;
          for (const [wait, cost] of steps) {
            now += wait;
            const inWindow = admitted.filter((at) => at > now - window).length;
            const { taken, at } = slidingLog(kept, log(units, window), cost, now);
            expect(taken.allowed).toBe(inWindow + cost <= units);
            expect(taken.remaining).toBe(units - inWindow - (taken.allowed ? cost : 0));
            for (let unit = 0; taken.allowed && unit < cost; unit += 1) {
              kept.push(at);
              admitted.push(now);
            }
            expect(kept.length).toBeLessThanOrEqual(units);
          }
        },
      ),
    );
  });

  it('keeps its word: a refused client who waits is admitted', () => {
    const kept = [0, 400_000, 900_000];
    const limit = log(3, 1000);
    const refused = slidingLog(kept, limit, 2, 900).taken;
    expect(refused).toMatchObject({ allowed: false, remaining: 0, retryAfterMs: 500, resetMs: 100 });
    expect(slidingLog(kept, limit, 2, 900 + refused.retryAfterMs).taken.allowed).toBe(true);
  });

  it('a cost above its units never passes, and says no time at which it would', () => {
    expect(slidingLog([], log(3, 1000), 4, 0).taken).toMatchObject({ allowed: false, retryAfterMs: 1000 });
  });

  it('a clock set back does not refuse until the old time comes', () => {
    const kept = [3_600_000_000];
    expect(slidingLog(kept, log(1, 1000), 1, 0).taken).toMatchObject({ allowed: false, retryAfterMs: 1000 });
    expect(slidingLog(kept, log(1, 1000), 1, 1000).taken.allowed).toBe(true);
  });
});

describe('several limits in process', () => {
  const drawn = fc.array(
    fc.record({
      algorithm: fc.constantFrom('gcra' as const, 'sliding-log' as const),
      units: fc.integer({ min: 1, max: 12 }),
      windowMs: fc.integer({ min: 1, max: 4000 }),
      burst: fc.integer({ min: 1, max: 12 }),
      isShared: fc.boolean(),
    }),
    { minLength: 1, maxLength: 4 },
  );
  const walk = fc.array(
    fc.record({ wait: fc.nat(300), caller: fc.nat(2), cost: fc.constantFrom(1, 1, 1, 2) }),
    { maxLength: 80 },
  );

  it('RL-8: each keeps its promise, burst + elapsed/T or its units in any window, whoever comes when', () => {
    fc.assert(
      fc.property(drawn, walk, (shapes, steps) => {
        let now = 0;
        const store = createEmbeddedRateLimitStore({ now: () => now });
        const limits = shapes.map(({ algorithm, units, windowMs, burst }, index): Limit => {
          const name = `limit-${index}`;
          return algorithm === 'gcra'
            ? { name, units, windowMs, burst }
            : { name, units, windowMs, burst: units, algorithm };
        });
        const admitted = new Map<string, { at: number; cost: number; limit: Limit }[]>();
        for (const { wait, caller, cost } of steps) {
          now += wait;
          const takes = limits.map((limit, index) => ({
            key: `{${shapes[index]?.isShared ? 'everyone' : caller}}:${limit.name}`,
            limit,
            cost,
          }));
          const before = takes.map((take) => look(store, take));
          const taken = store.takeAll(takes);
          if (!taken.every(({ allowed }) => allowed)) {
            expect(takes.map((take) => look(store, take))).toEqual(before);
            continue;
          }
          for (const { key, limit } of takes)
            admitted.set(key, [...(admitted.get(key) ?? []), { at: now, cost, limit }]);
        }
        for (const each of admitted.values()) expectPromise(each);
      }),
    );
  });

  /** What is left of a bucket: more than it can hold is never given. */
  function look(store: EmbeddedRateLimitStore, { key, limit }: Take): number {
    return store.take({ key, limit, cost: 1_000_000 }).remaining;
  }

  function expectPromise(admitted: readonly { at: number; cost: number; limit: Limit }[]): void {
    admitted.forEach((first, from) => {
      let sum = 0;
      for (const { at, cost, limit } of admitted.slice(from)) {
        const isLog = limit.algorithm === 'sliding-log';
        if (isLog && at - first.at >= limit.windowMs) return;
        sum += cost;
        const most = isLog
          ? limit.units
          : limit.burst + ((at - first.at) * 1000) / emissionInterval(limit) + 1e-6;
        expect(sum).toBeLessThanOrEqual(most);
      }
    });
  }
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

  it('RL-8, RL-11: a sliding log has no room but its units, lowered too', () => {
    const log: Limit = { ...base, units: 5, windowMs: 1000, burst: 5, algorithm: 'sliding-log' };
    const lowered = lowerLimit(log, { kind: 'absolute', units: 100, windowMs: 60_000 });
    expect(lowered).toMatchObject({ units: 100, burst: 100, algorithm: 'sliding-log' });
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

  const counted = (changes: Partial<typeof quota>): typeof quota => ({ ...quota, ...changes });
  const named = (name: string, units: number): Limit => ({ name, units, windowMs: 60_000, burst: units });
  const fieldsOf = (quotas: readonly Quota[]) => {
    const { replace, append } = quotaLines(quotas);
    const all = (name: string) => append.filter(([each]) => each === name).map(([, value]) => value);
    const own = replace.map(([, value]) => value).join(' ');
    return [own, all('ratelimit-policy').join(', '), all('ratelimit').join(', ')];
  };
  const everyone = { ...rule, by: 'everyone' } as const;
  const mine = counted({ limit: named('default', 600), remaining: 42 });
  const address = counted({ limit: named('burst', 100), rule: { ...rule, by: 'address' }, remaining: 70 });
  const all = counted({ limit: named('all', 9000), rule: everyone, remaining: 500 });

  it('RL-2, RL-3: of several limits the pair has the one that is met first, the lists have all', () => {
    expect(fieldsOf([mine, address])).toEqual([
      '600 42',
      '"default";q=600;w=60, "burst";q=100;w=60',
      '"default";r=42;t=17, "burst";r=70;t=17',
    ]);
  });

  it('RL-7: what others have used of a shared limit is told only where it is the one that is met first', () => {
    expect(fieldsOf([mine, all])).toEqual([
      '600 42',
      '"default";q=600;w=60, "all";q=9000;w=60',
      '"default";r=42;t=17',
    ]);
    expect(fieldsOf([mine, { ...all, remaining: 7 }])).toEqual([
      '9000 7',
      '"default";q=600;w=60, "all";q=9000;w=60',
      '"default";r=42;t=17, "all";r=7;t=17',
    ]);
  });

  it('RL-4: of two that refuse the pair has the one that refuses longer', () => {
    const refused = { allowed: false, remaining: 0 };
    const fields = fieldsOf([
      { ...mine, ...refused, retryAfterMs: 1000 },
      { ...address, ...refused, retryAfterMs: 9000 },
    ]);
    expect(fields[0]).toBe('100 0');
    expect(fieldsOf([mine, { ...all, ...refused, retryAfterMs: 1 }])[0]).toBe('9000 0');
  });

  it('RL-4: no limit of a refusal has a window that ends after the longest wait, be it one that lets pass', () => {
    const refused = { ...address, allowed: false, remaining: 1, retryAfterMs: 7_001, resetMs: 60_000 };
    expect(fieldsOf([refused])[2]).toBe('"burst";r=1;t=8');
    expect(fieldsOf([mine, refused])[2]).toBe('"default";r=42;t=8, "burst";r=1;t=8');
    expect(fieldsOf([{ ...mine, resetMs: 3_000 }, refused])[2]).toBe('"default";r=42;t=3, "burst";r=1;t=8');
    // What is only in shadow refuses nothing: there is no wait.
    const shadow = { ...refused, rule: { ...refused.rule, shadow: true } };
    expect(fieldsOf([mine, shadow])[2]).toBe('"default";r=42;t=17');
  });

  it('a limit in shadow has no numbers of its own, and alone none at all', () => {
    const shadow = { ...address, rule: { ...address.rule, shadow: true }, allowed: false, remaining: 0 };
    expect(fieldsOf([mine, shadow])).toEqual(fieldsOf([mine]));
    expect(fieldsOf([shadow])).toEqual(['', '', '']);
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
