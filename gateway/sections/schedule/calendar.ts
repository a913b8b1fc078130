// Adds calendar months in UTC, and finds the dates that hints suggest.
import type { EpochMs } from '../../policy/contract.ts';
import { inUtc } from '../../policy/spans.ts';

/** Dates have four digits for the year. */
export const LAST_DAY = Date.UTC(9999, 11, 31);

/** `months` may be negative. Uses the last day of the month if the month is too short. */
export function monthsAfter(at: EpochMs, months: number): EpochMs {
  return inUtc(at).add({ months }).epochMilliseconds;
}

/** The first date whose midnight is not before `at`. */
export function dayFrom(at: EpochMs): string {
  const start = inUtc(at).startOfDay();
  const day = start.epochMilliseconds < at ? start.add({ days: 1 }) : start;
  return day.toPlainDate().toString();
}

/** `<what> <date> or later`. `otherwise` if the date would be after 9999. */
export function orLater(what: string, at: EpochMs, otherwise: string): string {
  return at > LAST_DAY ? otherwise : `${what} ${dayFrom(at)} or later`;
}

/** The last date whose midnight is not after `at`. */
export function dayUntil(at: EpochMs): string {
  return inUtc(at).toPlainDate().toString();
}
