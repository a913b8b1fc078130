// Tests of the retry schedule.
import { describe, expect, it } from 'vitest';
import { MAX_ATTEMPTS, nextAttemptDelay } from '../../../upstreams/webhooks/schedule.ts';
import { DEFAULT_TUNING } from '../../../upstreams/webhooks/tuning.ts';

const HOUR = 3_600_000;
const exactly = () => 0.5;
const delays = (random: () => number) =>
  Array.from({ length: MAX_ATTEMPTS }, (_, index) =>
    nextAttemptDelay({ attempt: index + 1, retryAfterMs: undefined, random }),
  );

describe('the next attempt', () => {
  it('WH-6: comes at growing intervals, ten attempts over about 75 hours, then none', () => {
    const seconds = delays(exactly).map((ms) => (ms === undefined ? undefined : ms / 1_000));
    expect(seconds).toEqual([5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400, undefined]);
  });

  it('WH-6: is moved by up to a fifth in both directions', () => {
    expect(nextAttemptDelay({ attempt: 4, retryAfterMs: undefined, random: () => 0 })).toBe(1.6 * HOUR);
    expect(nextAttemptDelay({ attempt: 4, retryAfterMs: undefined, random: () => 0.999_999_999 })).toBe(
      2.4 * HOUR,
    );
  });

  it.each([
    ['later than planned', 60_000, 60_000],
    ['sooner than planned', 1_000, 5_000],
    ['in the past', -1, 5_000],
    ['in a year', 365 * 24 * HOUR, 24 * HOUR],
  ])('WH-5: Retry-After %s: %i ms gives %i ms', (_, retryAfterMs, expected) => {
    expect(nextAttemptDelay({ attempt: 1, retryAfterMs, random: exactly })).toBe(expected);
  });

  it('is not made after the last one, even with Retry-After', () => {
    expect(nextAttemptDelay({ attempt: MAX_ATTEMPTS, retryAfterMs: 1, random: exactly })).toBeUndefined();
  });
});

describe('the settings of the service', () => {
  it('WH-5, WH-6: are 15 s per attempt, and five days and twenty failures to disable', () => {
    const { attemptMs, leaseMs, keepMs, rules, nextDelay } = DEFAULT_TUNING;
    expect(attemptMs).toBe(15_000);
    expect(leaseMs).toBeGreaterThan(attemptMs);
    expect(rules.probeMs).toBeGreaterThan(attemptMs);
    expect(rules).toMatchObject({ disableAfterMs: 5 * 24 * HOUR, disableAfterFailures: 20 });
    const whole = delays(() => 1).reduce<number>((sum, ms) => sum + (ms ?? 0), 0);
    expect(keepMs).toBeGreaterThan(whole);
    expect(nextDelay).toBe(nextAttemptDelay);
  });
});
