// Converts UTC days between numbers, which stores and counters use, and dates.
import { DAY_MS, type EpochMs } from '../contract.ts';
import type { UsageDay } from './ledger.ts';

const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** A cache: reading the ledger and flushing it convert a few hundred days a hundred thousand times. */
const MAX_NAMES = 1_000;
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
  if (names.size < MAX_NAMES) names.set(number, name);
  return name;
}

/** @throws RangeError for an impossible date */
export function dayNumber(day: UsageDay): number {
  const known = numbers.get(day);
  if (known !== undefined) return known;
  if (!DAY.test(day)) throw new RangeError('a day is written as 2026-11-21');
  const number = dayNumberAt(Temporal.Instant.from(`${day}T00:00:00Z`).epochMilliseconds);
  if (numbers.size < MAX_NAMES) numbers.set(day, number);
  return number;
}
