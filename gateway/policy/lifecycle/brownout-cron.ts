// Cron in a time zone: whether an expression can be read, and when it strikes.
import { Cron } from 'croner';
import type { EpochMs } from '../contract.ts';
import type { CronBeat } from './brownout-rule.ts';

/** Five fields of digits, names, lists, ranges and steps; no nicknames, no `?`, no seconds. */
const FIELDS = /^[\w*,/#-]+(?: +[\w*,/#-]+){4}$/;
const ZONE = /^[A-Za-z][\w+-]*(?:\/[\w+-]+){0,2}$/;
/** Strikes that were looked for: each costs a look at the zone, and checks, plan and reload want the same ones. */
const found = new Map<string, readonly EpochMs[]>();
const MOST_FOUND = 1_000;

/** The expression itself when it has five fields that mean something, else undefined. */
export function parseCron(text: string): string | undefined {
  if (text.length > 200 || !FIELDS.test(text)) return undefined;
  try {
    schedule(text, 'UTC');
    return text;
  } catch {
    // The library has no other way to say that a field is out of range.
    return undefined;
  }
}

/** A zone of the IANA database by its name; undefined for others and for bare offsets, which know no daylight saving. */
export function parseZone(text: string): string | undefined {
  if (text.length > 64 || !ZONE.test(text)) return undefined;
  try {
    Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(text);
    return text;
  } catch {
    // Temporal's way to say that there is no such zone.
    return undefined;
  }
}

/**
 * The instants from `from` up to and without `until` at which the expression strikes, at most `most`.
 * A fixed time of day that the clocks skip strikes when they have gone forward; one they repeat strikes once.
 */
export function strikes(
  { cron, zone }: Pick<CronBeat, 'cron' | 'zone'>,
  from: EpochMs,
  until: EpochMs,
  most: number,
): readonly EpochMs[] {
  const key = [cron, zone, from, until, most].join('\n');
  const known = found.get(key) ?? lookFor(schedule(cron, zone), from, until, most);
  found.delete(key);
  found.set(key, known);
  if (found.size > MOST_FOUND) for (const oldest of found.keys().take(1)) found.delete(oldest);
  return known;
}

function lookFor(job: Cron, from: EpochMs, until: EpochMs, most: number): readonly EpochMs[] {
  const struck: EpochMs[] = [];
  // The library looks for what comes after the instant it is given.
  let next = job.nextRun(new Date(from - 1))?.getTime();
  while (next !== undefined && next < until && struck.length < most) {
    if (next >= from) struck.push(next);
    next = job.nextRun(new Date(next))?.getTime();
  }
  return struck;
}

/** Without a function to call, the library starts no timer. */
function schedule(cron: string, zone: string): Cron {
  return new Cron(cron, { mode: '5-part', timezone: zone, fixedTimeRule: 'no-wildcard' });
}
