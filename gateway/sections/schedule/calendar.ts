// Calendar months in UTC and the dates that hints name: a month is what the calendar says, not thirty days.
import type { EpochMs } from '../../policy/contract.ts';
import { inUtc } from '../../policy/spans.ts';

/** The notation of dates has four digits for the year. */
export const LAST_DAY = Date.UTC(9999, 11, 31);

/** The same day `months` later (earlier when negative); the last of the month where the calendar has no such day. */
export function monthsAfter(at: EpochMs, months: number): EpochMs {
  return inUtc(at).add({ months }).epochMilliseconds;
}

/** The first date whose midnight is not before `at`. */
export function dayFrom(at: EpochMs): string {
  const start = inUtc(at).startOfDay();
  const day = start.epochMilliseconds < at ? start.add({ days: 1 }) : start;
  return day.toPlainDate().toString();
}

/** `<what> <date> or later`; `otherwise` where no date that a file can hold is that late. */
export function orLater(what: string, at: EpochMs, otherwise: string): string {
  return at > LAST_DAY ? otherwise : `${what} ${dayFrom(at)} or later`;
}

/** The last date whose midnight is not after `at`. */
export function dayUntil(at: EpochMs): string {
  return inUtc(at).toPlainDate().toString();
}
