// Judges by remaining usage whether a version may retire, and computes the hold that keeps it from retiring.
import { z } from 'zod';
import { DAY_MS, type EpochMs } from '../contract.ts';
import { counted, notation, parseRate } from '../notation.ts';
import type { Label } from '../versioning/resolution.ts';
import type { Hold } from './override.ts';

export interface RetireWhen {
  /** The rule requires fewer distinct consumers than this in the period. Undefined: any number. */
  readonly consumersBelow: number | undefined;
  /** The rule requires fewer calls than this in the period. Undefined: any number. */
  readonly callsBelow: number | undefined;
  readonly days: number;
  readonly onExceed: 'warn' | 'hold';
}

export interface UsageSummary {
  /** Distinct consumers in the last `days` days. */
  readonly consumers: number;
  readonly calls: number;
  readonly days: number;
  /** Since when calls are counted. Undefined: not yet. */
  readonly since: EpochMs | undefined;
}

export type Retirement =
  | { readonly kind: 'met'; readonly usage: UsageSummary }
  | { readonly kind: 'exceeded'; readonly usage: UsageSummary }
  /** The ledger was not readable, or has not counted for the whole period. */
  | { readonly kind: 'unknown'; readonly usage: UsageSummary | undefined };

const USUAL_DAYS = 30;
/** The ledger keeps slightly more days. */
const LONGEST_DAYS = 366;

/** Too many calls are an excess even in a partial period. Few calls are proof only for the whole period. */
export function judgeRetirement(rule: RetireWhen, usage: UsageSummary | undefined, now: EpochMs): Retirement {
  if (usage === undefined) return { kind: 'unknown', usage };
  const { consumersBelow = Number.POSITIVE_INFINITY, callsBelow = Number.POSITIVE_INFINITY } = rule;
  if (usage.consumers >= consumersBelow || usage.calls >= callsBelow) return { kind: 'exceeded', usage };
  const looks = usage.since !== undefined && usage.since <= now - rule.days * DAY_MS;
  return { kind: looks ? 'met' : 'unknown', usage };
}

/** `below 1 consumer and 100 calls in 30 days`. */
export function retireWhenInWords({ consumersBelow, callsBelow, days }: RetireWhen): string {
  const bounds = [
    ...(consumersBelow === undefined ? [] : [counted(consumersBelow, 'consumer')]),
    ...(callsBelow === undefined ? [] : [counted(callsBelow, 'call')]),
  ];
  return `below ${bounds.join(' and ')} in ${counted(days, 'day')}`;
}

/** `14 consumers, 3,100 calls in 30 days`. */
export function usageInWords({ consumers, calls, days }: UsageSummary): string {
  return `${counted(consumers, 'consumer')}, ${counted(calls, 'call')} in ${counted(days, 'day')}`;
}

const calls = notation(
  (text) => {
    const rate = parseRate(text);
    const days = (rate?.windowMs ?? 0) / DAY_MS;
    if (rate === undefined || !Number.isInteger(days) || days > LONGEST_DAYS) return undefined;
    return { units: rate.units, days };
  },
  'not calls per whole days, such as 100/30d, of at most 366 days',
  { description: 'Fewer calls than this in so many days.', examples: ['100/30d'] },
);

const consumers = z
  .number()
  .refine((count) => Number.isInteger(count) && count >= 1, 'not a whole number of at least 1')
  .meta({ description: 'Fewer distinct consumers than this, in the days of calls_below; without it in 30.' });

export const retireWhenSection = z
  .strictObject({
    consumers_below: consumers.optional(),
    calls_below: calls.optional(),
    on_exceed: z
      .enum(['warn', 'hold'])
      .meta({ description: 'Whether the sunset comes all the same, or is held for a while; default warn.' })
      .optional(),
  })
  .refine(
    ({ consumers_below, calls_below }) => consumers_below !== undefined || calls_below !== undefined,
    'nothing to go by: write consumers_below or calls_below',
  )
  .transform(
    ({ consumers_below, calls_below, on_exceed }): RetireWhen => ({
      consumersBelow: consumers_below,
      callsBelow: calls_below?.units,
      days: calls_below?.days ?? USUAL_DAYS,
      onExceed: on_exceed ?? 'warn',
    }),
  )
  .meta({ description: 'When the version may be retired, by what is still called of it.' });

export interface HoldableVersion {
  readonly api: string;
  readonly label: Label;
  readonly schedule: { readonly sunset: EpochMs | undefined };
  /** Undefined: the version cannot be served, held or not. */
  readonly upstream: object | undefined;
}

const HOUR_MS = 3_600_000;
/** How long before the sunset a hold may begin. Callers get the new date, and all gateways of the store read it in time. */
const AHEAD_MS = 24 * HOUR_MS;
/**
 * The store may be unavailable for two days before a hold expires without renewal. A hold whose rule is met ends within
 * three days.
 */
const LENGTH_MS = 72 * HOUR_MS;
const RENEWED_WITH_MS = 48 * HOUR_MS;
/** A hold does not last forever without an operator. For longer, extend the sunset. */
export const LONGEST_HELD_MS = 90 * 24 * HOUR_MS;
const GUARD = 'guard';

/**
 * The hold to store now, new or renewed. Undefined: no change. A hold that is no longer needed expires at its announced
 * end. A hold begins before the sunset and is renewed only while it is in force, so that an ended version is never revived.
 */
export function holdFor(
  version: HoldableVersion,
  rule: RetireWhen,
  retirement: Retirement,
  { now, hold }: { readonly now: EpochMs; readonly hold: Hold | undefined },
): Hold | undefined {
  const { sunset } = version.schedule;
  if (sunset === undefined || version.upstream === undefined || rule.onExceed !== 'hold') return undefined;
  if (retirement.kind !== 'exceeded') return undefined;
  if (now < sunset - AHEAD_MS) return undefined;
  if (hold === undefined ? now >= sunset : hold.until - now >= RENEWED_WITH_MS) return undefined;
  // Whole hours, so that gateways which judge at slightly different times make the same hold.
  const wanted = Math.ceil((Math.max(now, sunset) + LENGTH_MS) / HOUR_MS) * HOUR_MS;
  const until = Math.min(wanted, sunset + LONGEST_HELD_MS);
  if (until <= (hold?.until ?? sunset)) return undefined;
  const { api, label } = version;
  const reason = `${usageInWords(retirement.usage)}; to be retired ${retireWhenInWords(rule)}`;
  const from = hold?.from ?? now;
  return { kind: 'hold', id: `${GUARD}-${api}-${label}`, api, label, author: GUARD, reason, from, until };
}
