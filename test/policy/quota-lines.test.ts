// The rate-limit header lines and Retry-After.
import fc from 'fast-check';
import { parseList } from 'structured-headers';
import { describe, expect, it } from 'vitest';
import type { Limit, Quota } from '../../gateway/policy/rate-limit/limit.ts';
import { quotaLines, retryAfterSeconds } from '../../gateway/policy/rate-limit/quota-headers.ts';
import { bucket, five, limits } from './drawn-limits.ts';

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

  it('RL-2, RL-3: contain limit, remaining and the draft fields', () => {
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

  it('RL-2, RL-3: X-RateLimit shows the nearest of several limits, the lists show all', () => {
    expect(fieldsOf([mine, address])).toEqual([
      '600 42',
      '"default";q=600;w=60, "burst";q=100;w=60',
      '"default";r=42;t=17, "burst";r=70;t=17',
    ]);
  });

  it('RL-7: the remaining units of a shared limit appear only if it is the nearest', () => {
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

  it('RL-4: X-RateLimit shows the longer of two refusals', () => {
    const refused = { allowed: false, remaining: 0 };
    const fields = fieldsOf([
      { ...mine, ...refused, retryAfterMs: 1000 },
      { ...address, ...refused, retryAfterMs: 9000 },
    ]);
    expect(fields[0]).toBe('100 0');
    expect(fieldsOf([mine, { ...all, ...refused, retryAfterMs: 1 }])[0]).toBe('9000 0');
  });

  it('RL-4: no window in a refusal ends after Retry-After, not even of a limit that admits', () => {
    const refused = { ...address, allowed: false, remaining: 1, retryAfterMs: 7_001, resetMs: 60_000 };
    expect(fieldsOf([refused])[2]).toBe('"burst";r=1;t=8');
    expect(fieldsOf([mine, refused])[2]).toBe('"default";r=42;t=8, "burst";r=1;t=8');
    expect(fieldsOf([{ ...mine, resetMs: 3_000 }, refused])[2]).toBe('"default";r=42;t=3, "burst";r=1;t=8');
    // A shadow limit refuses nothing, so there is no delay.
    const shadow = { ...refused, rule: { ...refused.rule, shadow: true } };
    expect(fieldsOf([mine, shadow])[2]).toBe('"default";r=42;t=17');
  });

  it('a shadow limit is not shown', () => {
    const shadow = { ...address, rule: { ...address.rule, shadow: true }, allowed: false, remaining: 0 };
    expect(fieldsOf([mine, shadow])).toEqual(fieldsOf([mine]));
    expect(fieldsOf([shadow])).toEqual(['', '', '']);
  });

  it('RL-13: no numbers appear while the store is unavailable', () => {
    const none = { replace: [], append: [] };
    expect(quotaLines([{ kind: 'degraded', rule, limit: five, allowed: true, retryAfterMs: 0 }])).toEqual(
      none,
    );
    expect(quotaLines([{ kind: 'unavailable', rule, limit: five }])).toEqual(none);
  });

  it('RL-3, RL-4: numbers are whole and not negative, and t is never after Retry-After', () => {
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
  ])('RL-1: %d ms becomes Retry-After: %i', (retryAfterMs, seconds) => {
    expect(retryAfterSeconds({ retryAfterMs })).toBe(seconds);
  });
});
