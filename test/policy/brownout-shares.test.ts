// Which callers a brownout refuses: all, a stable share, never those with an exception.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type BrownoutSubject,
  brownoutRefusal,
  dependsOnCaller,
  isRefusedByBrownout,
} from '../../gateway/policy/lifecycle/brownout-refusal.ts';
import type { BrownoutWindow } from '../../gateway/policy/lifecycle/brownout-rule.ts';
import { NO_SUCCESSOR } from '../../gateway/policy/lifecycle/retirement.ts';
import { version } from '../support/exchange-samples.ts';
import { DAY, day, HOUR } from './brownout-times.ts';

describe('the callers that a window refuses', () => {
  const subject: BrownoutSubject = { ...version(), exceptions: [] };
  const window: BrownoutWindow = {
    from: day('2027-02-01'),
    until: day('2027-02-01') + HOUR,
    rule: 0,
    announced: day('2027-01-01'),
    status: 410,
    share: undefined,
    message: undefined,
  };
  const consumer = fc.record({
    consumer: fc.option(fc.record({ id: fc.string({ minLength: 1 }) }), { nil: undefined }),
    clientAddress: fc.ipV4(),
  });
  const share = fc.integer({ min: 1, max: 99 }).map((percent) => percent / 100);

  it('are all callers without a share', () => {
    fc.assert(
      fc.property(consumer, (caller) => {
        expect(isRefusedByBrownout(window, subject, window.from, caller)).toBe(true);
      }),
    );
    expect(dependsOnCaller(window, subject, window.from)).toBe(false);
  });

  it('stay the same throughout a window, and are more with a larger share', () => {
    const instant = fc.integer({ min: window.from, max: window.until - 1 });
    fc.assert(
      fc.property(consumer, share, share, instant, instant, (caller, a, b, one, other) => {
        const small = { ...window, share: Math.min(a, b) };
        const large = { ...window, share: Math.max(a, b) };
        const met = isRefusedByBrownout(small, subject, one, caller);
        expect(isRefusedByBrownout(small, subject, other, caller)).toBe(met);
        if (met) expect(isRefusedByBrownout(large, subject, one, caller)).toBe(true);
        expect(dependsOnCaller(small, subject, one)).toBe(true);
      }),
    );
  });

  it.each<[string, number, Partial<BrownoutSubject>]>([
    ['in the next window', DAY, {}],
    ['in another version', 0, { label: 'v0' }],
    ['in another API', 0, { api: 'payments' }],
  ])('are about the configured share, and differ %s', (_where, shifted, other) => {
    const met = (from: number, met: BrownoutSubject) =>
      Array.from({ length: 2000 }, (_, index) =>
        isRefusedByBrownout({ ...window, from, share: 0.25 }, met, window.from, {
          consumer: { id: `consumer-${index}` },
          clientAddress: '192.0.2.1',
        }),
      );
    const first = met(window.from, subject);
    const second = met(window.from + shifted, { ...subject, ...other });
    expect(first.filter(Boolean).length / 2000).toBeCloseTo(0.25, 1);
    expect(first.filter((each, index) => each && second[index]).length).toBeLessThan(250);
  });

  it('are identified by consumer, or by address if anonymous', () => {
    const half = { ...window, share: 0.5 };
    const meets = (id: string | undefined, clientAddress: string) =>
      isRefusedByBrownout(half, subject, window.from, {
        consumer: id === undefined ? undefined : { id },
        clientAddress,
      });
    const addresses = Array.from({ length: 50 }, (_, index) => `192.0.2.${index}`);
    expect(new Set(addresses.map((address) => meets('acme', address))).size).toBe(1);
    expect(new Set(addresses.map((address) => meets(undefined, address))).size).toBe(2);
  });

  it('exclude a consumer with an exception from brownouts until it expires', () => {
    const exception = {
      consumer: 'acme',
      until: window.from + 1000,
      from: ['brownouts'],
      why: 'contract',
      by: 'team',
      phases: [],
    } as const;
    const excepted: BrownoutSubject = { ...subject, exceptions: [exception] };
    const caller = { consumer: { id: 'acme' }, clientAddress: '192.0.2.1' };
    expect(isRefusedByBrownout(window, excepted, window.from + 999, caller)).toBe(false);
    expect(isRefusedByBrownout(window, excepted, window.from + 1000, caller)).toBe(true);
    expect(isRefusedByBrownout(window, excepted, window.from, { ...caller, consumer: { id: 'beta' } })).toBe(
      true,
    );
    expect(dependsOnCaller(window, excepted, window.from + 999)).toBe(true);
    expect(dependsOnCaller(window, excepted, window.from + 1000)).toBe(false);
  });

  it('RL-1: may return after Retry-After, when the window is over', () => {
    const instant = fc.integer({ min: window.from, max: window.until - 1 });
    fc.assert(
      fc.property(instant, (now) => {
        const refusal = brownoutRefusal(subject, window, now, NO_SUCCESSOR);
        if (refusal.reason !== 'brownout') throw new Error(refusal.reason);
        const back = now + refusal.retryAfterSeconds * 1000;
        expect(back >= window.until && back - window.until < 1000).toBe(true);
      }),
    );
  });
});
