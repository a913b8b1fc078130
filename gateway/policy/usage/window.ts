// Which days a look at the ledger counts, and the two weeks whose comparison is the trend.
// Made once per look by whoever reads the ledger; days of UTC, compared as text.
import type { EpochMs } from '../contract.ts';
import { dayNamed, dayNumber, dayNumberAt } from './day.ts';
import type { UsageDay } from './ledger.ts';

export interface UsageWindow {
  /** The moment of the look. */
  readonly now: EpochMs;
  /** The first day that is counted. */
  readonly since: UsageDay;
  /** Whole days from `since` to the day of the look. */
  readonly days: number;
  /** The first day that has to be read: the trend may look further back than the count. */
  readonly readFrom: UsageDay;
  /** The seven whole days before the day of the look begin here: a day that has only begun would always seem a fall. */
  readonly weekFrom: UsageDay;
  /** The seven before them. */
  readonly weekBeforeFrom: UsageDay;
  /** The day of the look. */
  readonly today: UsageDay;
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
