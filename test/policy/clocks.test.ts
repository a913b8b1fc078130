// The two clocks have different types: `npm run typecheck` refuses to mix them.
import { expect, it } from 'vitest';
import type { EpochMs, MonotonicMs } from '../../gateway/policy/contract.ts';

it('an instant of one clock is not assignable to the other', () => {
  const epoch: EpochMs = Date.UTC(2026, 10, 20);
  const monotonic: MonotonicMs = 1_500;
  // @ts-expect-error: a monotonic instant is no date.
  const date: EpochMs = monotonic;
  // @ts-expect-error: durations are not measured by the wall clock.
  const start: MonotonicMs = epoch;
  // @ts-expect-error: a clock cannot replace the other clock.
  const clock: () => MonotonicMs = (): EpochMs => epoch;
  expect([date, start, clock()]).toEqual([monotonic, epoch, epoch]);
});
