// Which days a look at the ledger counts, and the two weeks whose comparison is the trend.
import type { EpochMs } from '../contract.ts';
import { dayNamed, dayNumber, dayNumberAt, startOfDay } from './day.ts';
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

/** Where the days begin that a ledger still has, today among those it keeps. What is older is forgotten, not uncalled. */
export function keptFrom(now: EpochMs, keepDays: number): EpochMs {
  return startOfDay(dayNumberAt(now) - keepDays + 1);
}

/** Since when a ledger that began then can tell of calls. `kept`: as keptFrom; undefined: it forgets nothing. */
export function tellsSince(beganAt: EpochMs | undefined, kept: EpochMs | undefined): EpochMs | undefined {
  return beganAt === undefined ? undefined : Math.max(beganAt, kept ?? beganAt);
}

/** `days` whole days before `now`, so that what is counted is at least as long. */
export function daysBefore(now: EpochMs, days: number): UsageDay {
  return dayNamed(dayNumberAt(now) - days);
}
