// How `explain` describes dates, limits, carriers and the end of a maintenance.
import { clientBasePathOf } from '../../exchange/addresses/client-place.ts';
import type { ForwardOrder } from '../../exchange/directive.ts';
import { plural } from '../../plan/problems.ts';
import { DAY_MS, type EpochMs } from '../../policy/contract.ts';
import type { IdempotencyOutcome, IdempotencyRules } from '../../policy/idempotency/rules.ts';
import type { Schedule } from '../../policy/lifecycle/schedule.ts';
import type { Maintenance } from '../../policy/maintenance/maintenance.ts';
import { dateInWords } from '../../policy/notation.ts';
import type { Limit } from '../../policy/rate-limit/limit.ts';
import { spanInWords } from '../../policy/spans.ts';
import type { Carrier } from '../../policy/versioning/carriers.ts';

export function endOf(maintenance: Maintenance | undefined): string {
  if (maintenance === undefined) return '';
  const { until, why } = maintenance;
  return [`until ${dateInWords(until)}`, ...(why === undefined ? [] : [why])].join(': ');
}

export function formatCarrier(carrier: Carrier | undefined): string {
  switch (carrier) {
    case 'default':
      return 'the default';
    case 'accept':
      return 'from the Accept header';
    case 'content_type':
      return 'from the Content-Type header';
    default:
      return `from the ${carrier}`;
  }
}

export function datesInWords({ deprecated, sunset }: Schedule, now: EpochMs): string {
  const words: string[] = [];
  if (deprecated !== undefined)
    words.push(`${deprecated <= now ? 'deprecated since' : 'deprecated from'} ${dateInWords(deprecated)}`);
  if (sunset !== undefined) words.push(`sunset ${dateInWords(sunset)}, ${distance(sunset, now)}`);
  return words.join(', ');
}

function distance(instant: EpochMs, now: EpochMs): string {
  const days = Math.floor(Math.abs(instant - now) / DAY_MS);
  if (instant <= now) return days === 0 ? 'just now' : `${plural(days, 'day')} ago`;
  return days === 0 ? 'in less than a day' : `in ${plural(days, 'day')}`;
}

export function perWindow({ units, windowMs }: Limit): string {
  const [size, unit] = UNITS.find(([ms]) => windowMs % ms === 0) ?? [1, 'ms'];
  return `${units} per ${windowMs / size}${unit}`;
}

/** For a forwarded request that may have an idempotency key. */
export function keyInWords(
  { keepMs, maxBody }: IdempotencyRules,
  outcome: IdempotencyOutcome | undefined,
): { readonly value: string; readonly detail: string; readonly assumed: string | undefined } {
  const kept = `an outcome is kept for ${spanInWords(0, keepMs)}`;
  if (outcome === 'claimed') return { value: 'new', detail: kept, assumed: 'no request has used it' };
  if (outcome === undefined) return { value: 'none', detail: kept, assumed: undefined };
  return { value: outcome, detail: `its body is larger than ${maxBody} bytes`, assumed: undefined };
}

export function locationsInWords({ upstream, clientPlace, setHeaders }: ForwardOrder): string {
  if (clientPlace !== undefined)
    return `${upstream.path || '/'} becomes ${clientBasePathOf(clientPlace) || '/'} in addresses of the service`;
  const prefix = setHeaders?.['x-forwarded-prefix'];
  return prefix === undefined ? 'addresses stay as the service writes them' : `X-Forwarded-Prefix: ${prefix}`;
}

const UNITS: readonly (readonly [number, string])[] = [
  [DAY_MS, 'd'],
  [3_600_000, 'h'],
  [60_000, 'm'],
  [1_000, 's'],
];
