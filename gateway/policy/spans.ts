// Writes the distance of two instants in calendar units: `3 months`, `1 month 5 days`, `15 minutes`.
import type { EpochMs } from './contract.ts';

const UNITS = ['months', 'days', 'hours', 'minutes', 'seconds', 'milliseconds'] as const;

/** Calendar months first, then smaller units. `0 seconds` for equal instants. */
export function spanInWords(a: EpochMs, b: EpochMs): string {
  const [from, until] = a < b ? [a, b] : [b, a];
  const span = inUtc(from).until(inUtc(until), { largestUnit: 'months' });
  const words = UNITS.flatMap((unit) => {
    const count = span[unit];
    return count === 0 ? [] : [`${count} ${count === 1 ? unit.slice(0, -1) : unit}`];
  });
  return words.length === 0 ? '0 seconds' : words.join(' ');
}

/** `+3 months` for a move to a later instant, `-3 months` for one to an earlier. */
export function moveInWords(from: EpochMs, to: EpochMs): string {
  return `${to < from ? '-' : '+'}${spanInWords(from, to)}`;
}

export function inUtc(at: EpochMs): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO('UTC');
}
