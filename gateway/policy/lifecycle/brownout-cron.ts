// Parses cron expressions and time zones, and computes when an expression fires.
import { Cron } from 'croner';
import type { EpochMs } from '../contract.ts';
import type { CronWindows } from './brownout-rule.ts';

/** Five fields of digits, names, lists, ranges and steps. No nicknames, no `?`, no seconds. */
const FIELDS = /^[\w*,/#-]+(?: +[\w*,/#-]+){4}$/;
const ZONE = /^[A-Za-z][\w+-]*(?:\/[\w+-]+){0,2}$/;
/** A cache: each instant needs a time zone lookup, and check, plan and reload compute the same ones. */
const cache = new Map<string, readonly EpochMs[]>();
const MAX_CACHED = 1_000;

/** Returns `text` if it has five valid fields, otherwise undefined. */
export function parseCron(text: string): string | undefined {
  if (text.length > 200 || !FIELDS.test(text)) return undefined;
  try {
    schedule(text, 'UTC');
    return text;
  } catch {
    // The library throws if a field is out of range.
    return undefined;
  }
}

/** The name of an IANA time zone. Undefined for other texts and for plain offsets, which have no daylight saving. */
export function parseZone(text: string): string | undefined {
  if (text.length > 64 || !ZONE.test(text)) return undefined;
  try {
    Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(text);
    return text;
  } catch {
    // Temporal throws for an unknown zone.
    return undefined;
  }
}

/**
 * The instants in from <= t < until at which the expression fires, at most `most`. A fixed time that the clock change skips
 * fires after the change. A repeated one fires once.
 */
export function firingTimes(
  { cron, zone }: Pick<CronWindows, 'cron' | 'zone'>,
  from: EpochMs,
  until: EpochMs,
  most: number,
): readonly EpochMs[] {
  const key = [cron, zone, from, until, most].join('\n');
  const known = cache.get(key) ?? computeTimes(schedule(cron, zone), from, until, most);
  cache.delete(key);
  cache.set(key, known);
  if (cache.size > MAX_CACHED) for (const oldest of cache.keys().take(1)) cache.delete(oldest);
  return known;
}

function computeTimes(job: Cron, from: EpochMs, until: EpochMs, most: number): readonly EpochMs[] {
  const fired: EpochMs[] = [];
  // nextRun excludes the given instant.
  let next = job.nextRun(new Date(from - 1))?.getTime();
  while (next !== undefined && next < until && fired.length < most) {
    if (next >= from) fired.push(next);
    next = job.nextRun(new Date(next))?.getTime();
  }
  return fired;
}

/** Without a callback, the library starts no timer. */
function schedule(cron: string, zone: string): Cron {
  return new Cron(cron, { mode: '5-part', timezone: zone, fixedTimeRule: 'no-wildcard' });
}
