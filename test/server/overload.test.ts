// The share of requests that the gateway refuses under load, with a mocked clock.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createLoadGuard, type LoadGuard } from '../../gateway/server/overload.ts';

let now = 0;
let guard: LoadGuard;
beforeEach(() => {
  vi.useFakeTimers();
  now = 0;
  guard = createLoadGuard({ overload: { lagMs: 100, requests: 5 }, monotonic: () => now });
});
afterEach(() => {
  guard.stop();
  vi.useRealTimers();
});

/** Samples of the event loop, each `lateMs` late. */
function samples(count: number, lateMs: number): void {
  for (let index = 0; index < count; index += 1) {
    now += 50 + lateMs;
    vi.advanceTimersByTime(50);
  }
}

/** The number of refusals in a hundred consecutive requests. */
function shed(): number {
  let refused = 0;
  for (let index = 0; index < 100; index += 1) {
    if (guard.begin() === 'lag') refused += 1;
    guard.end();
  }
  return refused;
}

describe('the load guard', () => {
  it('admits all requests while the event loop is on time, and after single pauses', () => {
    samples(10, 0);
    samples(2, 5_000);
    samples(1, 0);
    samples(2, 5_000);
    expect(shed()).toBe(0);
    expect(guard.lagMs()).toBe(5_000);
  });

  it('refuses a growing share of at most 95% while the event loop is late, and less afterwards', () => {
    samples(3, 200);
    expect(shed()).toBeCloseTo(20, -1);
    samples(1, 200);
    expect(shed()).toBeCloseTo(40, -1);
    samples(20, 200);
    expect(shed()).toBeCloseTo(95, -1);
    // A lag below the limit that is not on time keeps the share.
    samples(20, 70);
    expect(shed()).toBeCloseTo(95, -1);
    samples(10, 0);
    expect(shed()).toBeCloseTo(45, -1);
    samples(10, 0);
    expect(shed()).toBe(0);
  });

  it('refuses requests beyond the limit of running requests', () => {
    expect(Array.from({ length: 6 }, () => guard.begin())).toEqual([...Array(5).fill(undefined), 'requests']);
    guard.end();
    guard.end();
    expect(guard.begin()).toBeUndefined();
    expect(guard.requests()).toBe(5);
  });
});
