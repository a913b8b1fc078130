// The bucket of a request, and lowered limits.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bucketKey, bucketName, type Limit } from '../../gateway/policy/rate-limit/limit.ts';
import { lowerLimit } from '../../gateway/policy/rate-limit/lowering.ts';
import { limits } from './drawn-limits.ts';

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

  it('RL-8, RL-11: the burst of a sliding log equals its units, lowered too', () => {
    const log: Limit = { ...base, units: 5, windowMs: 1000, burst: 5, algorithm: 'sliding-log' };
    const lowered = lowerLimit(log, { kind: 'absolute', units: 100, windowMs: 60_000 });
    expect(lowered).toMatchObject({ units: 100, burst: 100, algorithm: 'sliding-log' });
  });

  it('RL-11: a lowered limit is at least one', () => {
    expect(lowerLimit(base, { kind: 'factor', factor: 0 })).toMatchObject({ units: 1, burst: 1 });
    expect(lowerLimit(base, { kind: 'absolute', units: 0, windowMs: 1000 })).toMatchObject({
      units: 1,
      burst: 1,
    });
  });

  it('a factor gives the decimal result', () => {
    expect(lowerLimit({ ...base, units: 100 }, { kind: 'factor', factor: 0.29 }).units).toBe(29);
  });

  it('RL-11: a lowered limit is between one and the base, with a burst of at most the rate', () => {
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

  it('RL-12: contain API, version, limit and consumer, with the subject first as the hash tag', () => {
    expect(bucketKey(bucket, 'consumer', caller)).toBe('{consumer:acme}:orders:v1:default');
  });

  it('RL-12: contain the address if so configured, or for anonymous callers', () => {
    const byAddress = '{address:192.0.2.7}:orders:v1:default';
    expect(bucketKey(bucket, 'address', caller)).toBe(byAddress);
    expect(bucketKey(bucket, 'consumer', { ...caller, consumer: undefined })).toBe(byAddress);
  });

  it('are shared for limits by everyone', () => {
    expect(bucketKey(bucket, 'everyone', caller)).toBe('{everyone:orders:v1:default}');
  });

  it('RL-11, RL-12: differ for different subjects, whatever characters their names contain', () => {
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
