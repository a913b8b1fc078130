// Which days a look at the ledger counts, and the two weeks whose comparison is the trend.
// Made once per look by whoever reads the ledger; days of UTC, compared as text.
import type { EpochMs } from '../contract.ts';
import { dayNamed, dayNumber, dayNumberAt } from './day.ts';
import type { CountedDays, UsageDay } from './ledger.ts';

export interface UsageWindow extends CountedDays {
  /** The moment of the look. */
  readonly now: EpochMs;
  /** Whole days from `since` to the day of the look. */
  readonly days: number;
}

/** Calls of the last seven whole days, and of the seven before. */
export interface Trend {
  readonly week: number;
  readonly weekBefore: number;
}

const WEEK = 7;

export function usageWindow(now: EpochMs, since: UsageDay): UsageWindow {
  const today = dayNumberAt(now);
  const weekBeforeFrom = dayNamed(today - 2 * WEEK);
  return {
    now,
    since,
    days: today - dayNumber(since),
    readFrom: since < weekBeforeFrom ? since : weekBeforeFrom,
    weekFrom: dayNamed(today - WEEK),
    weekBeforeFrom,
    today: dayNamed(today),
  };
}

/** `days` whole days before `now`, so that what is counted is at least as long. */
export function daysBefore(now: EpochMs, days: number): UsageDay {
  return dayNamed(dayNumberAt(now) - days);
}
