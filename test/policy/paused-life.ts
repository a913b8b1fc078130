// Orders v1 with its dates and a pause around its sunset, for tests. Days are UTC, in epoch milliseconds.
import type { BrownoutWindow } from '../../gateway/policy/lifecycle/brownout-rule.ts';
import type { Pause } from '../../gateway/policy/lifecycle/override.ts';
import type { PausableVersion } from '../../gateway/policy/lifecycle/pause-effects.ts';
import type { Schedule } from '../../gateway/policy/lifecycle/schedule.ts';
import { version } from '../support/exchange-samples.ts';

export const HOUR = 3_600_000;
export const DAY = 24 * HOUR;
export const day = (text: string) => Temporal.Instant.from(`${text}T00:00:00Z`).epochMilliseconds;

export const SUNSET = day('2027-04-15');
export const BEGIN = SUNSET - 2 * DAY;
export const END = SUNSET + 5 * DAY;

export const pause = (changes: Partial<Pause> = {}): Pause => ({
  kind: 'pause',
  id: 'p1',
  api: 'orders',
  label: undefined,
  author: 'alice',
  reason: 'incident 12',
  from: BEGIN,
  until: END,
  ...changes,
});

export function life(changes: Partial<Schedule> = {}, more: Partial<PausableVersion> = {}): PausableVersion {
  const { operations: _none, upstream: _nowhere, ...base } = version();
  const schedule = { ...base.schedule, ...changes };
  return {
    ...base,
    schedule,
    phases: base.phasesOf(schedule),
    upstream: {},
    operations: undefined,
    ...more,
  };
}

export const window = (from: number, until: number): BrownoutWindow => ({
  from,
  until,
  rule: 0,
  announced: 0,
  status: 410,
  share: undefined,
  message: undefined,
});
