// Computes the days that a usage report counts, and the two weeks of its trend.
import type { EpochMs } from '../contract.ts';
import { dayNamed, dayNumber, dayNumberAt, startOfDay } from './day.ts';
import type { CountedDays, UsageDay } from './ledger.ts';

export interface UsageWindow extends CountedDays {
  readonly now: EpochMs;
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

/** Start of the oldest day that the ledger keeps, today included. Older days are deleted, not free of calls. */
export function oldestKept(now: EpochMs, keepDays: number): EpochMs {
  return startOfDay(dayNumberAt(now) - keepDays + 1);
}

/** Since when the ledger's counts are complete. `kept`: from oldestKept. Undefined: the ledger deletes nothing. */
export function completeSince(beganAt: EpochMs | undefined, kept: EpochMs | undefined): EpochMs | undefined {
  return beganAt === undefined ? undefined : Math.max(beganAt, kept ?? beganAt);
}

/** `days` whole days before today, so that the counted period is at least that long. */
export function daysBefore(now: EpochMs, days: number): UsageDay {
  return dayNamed(dayNumberAt(now) - days);
}
