// Days of UTC as the ledger counts them: by number in the stores and while counting, by date wherever they are read.
import { DAY_MS, type EpochMs } from '../contract.ts';
import type { UsageDay } from './ledger.ts';

const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** A look at the ledger reads each of a few hundred days a hundred thousand times, and a flush writes them as often. */
const MOST_NAMES = 1_000;
const names = new Map<number, UsageDay>();
const numbers = new Map<UsageDay, number>();

/** Whole days since 1970-01-01. */
export function dayNumberAt(at: EpochMs): number {
  return Math.floor(at / DAY_MS);
}

export function startOfDay(number: number): EpochMs {
  return number * DAY_MS;
}

export function dayNamed(number: number): UsageDay {
  const known = names.get(number);
  if (known !== undefined) return known;
  const name = Temporal.Instant.fromEpochMilliseconds(startOfDay(number)).toString().slice(0, 10);
  if (names.size < MOST_NAMES) names.set(number, name);
  return name;
}

/** @throws RangeError when no calendar has the day */
export function dayNumber(day: UsageDay): number {
  const known = numbers.get(day);
  if (known !== undefined) return known;
  if (!DAY.test(day)) throw new RangeError('a day is written as 2026-11-21');
  const number = dayNumberAt(Temporal.Instant.from(`${day}T00:00:00Z`).epochMilliseconds);
  if (numbers.size < MOST_NAMES) numbers.set(day, number);
  return number;
}
