// Reads the query of a request for usage.
import { unknownName } from '../api/admin-requests.ts';
import { DAY_MS, type EpochMs } from '../policy/contract.ts';
import { dayOf, isPrintableId, parseDuration, parseInstant } from '../policy/notation.ts';
import { readPlace, type UsageDay, type UsageFilter } from '../policy/usage/ledger.ts';
import { daysBefore } from '../policy/usage/window.ts';

export interface UsageQuery {
  readonly filter: Pick<UsageFilter, 'api' | 'version' | 'consumer'>;
  readonly since: UsageDay | undefined;
  /** Cursor of the page: the `next` of the page before. */
  readonly after: string | undefined;
  /** The number of rows, most calls first. Undefined: all rows, in pages. */
  readonly most: number | undefined;
}

export type UsageQueryRead =
  | { readonly kind: 'read'; readonly value: UsageQuery }
  /** Each problem is a sentence that names the parameter. */
  | { readonly kind: 'malformed'; readonly problems: readonly string[] };

const PARAMETERS = ['api', 'version', 'consumer', 'since', 'after', 'most'] as const;
const MAX = 500;

export function readUsageQuery(query: URLSearchParams, now: EpochMs): UsageQueryRead {
  const problems: string[] = [...unknownNames(query, PARAMETERS)];
  const one = (name: (typeof PARAMETERS)[number]): string | undefined => query.get(name) ?? undefined;
  for (const name of PARAMETERS) problems.push(...flaws(query, name));
  const [api, version, consumer, instant, after, mostWritten] = PARAMETERS.map(one);
  const since = instant === undefined ? undefined : sinceOf(instant, now);
  if (instant !== undefined && since === undefined)
    problems.push('"since" is not a length such as 30d or a past day such as 2026-10-01');
  const most = mostWritten === undefined ? undefined : mostOf(mostWritten);
  if (mostWritten !== undefined && most === undefined)
    problems.push(`"most" is not a whole number from 1 to ${MAX}`);
  if (mostWritten !== undefined && (after !== undefined || consumer !== undefined))
    problems.push('"most" cannot be combined with "after" or "consumer"');
  if (problems.length > 0) return { kind: 'malformed', problems };
  const filter = {
    ...(api !== undefined && { api }),
    ...(version !== undefined && { version }),
    ...(consumer !== undefined && { consumer }),
  };
  return { kind: 'read', value: { filter, since, after, most } };
}

/** Refuses all other parameters, so that a caller cannot believe that a filter narrows the erasure. */
export function readErasureQuery(
  query: URLSearchParams,
):
  | { readonly kind: 'read'; readonly consumer: string }
  | Extract<UsageQueryRead, { readonly kind: 'malformed' }> {
  const consumer = query.get('consumer');
  const problems = [...unknownNames(query, ['consumer']), ...flaws(query, 'consumer')];
  if (consumer === null) problems.push('name the consumer whose records to erase: ?consumer=<id>');
  return consumer === null || problems.length > 0
    ? { kind: 'malformed', problems }
    : { kind: 'read', consumer };
}

function unknownNames(query: URLSearchParams, known: readonly string[]): readonly string[] {
  const unknown = [...new Set(query.keys())].filter((name) => !known.includes(name));
  return unknown.slice(0, 5).map((name) => unknownName('parameter', name, known));
}

function flaws(query: URLSearchParams, name: (typeof PARAMETERS)[number]): readonly string[] {
  const values = query.getAll(name);
  if (values.length > 1) return [`"${name}" is given ${values.length} times`];
  const [value] = values;
  if (value === undefined) return [];
  if (name === 'after')
    return readPlace(value) === undefined ? ['"after" is not the "next" of a previous page'] : [];
  return isPrintableId(value) ? [] : [`"${name}" is empty, too long or not printable`];
}

function mostOf(text: string): number | undefined {
  const most = /^[1-9]\d{0,2}$/.test(text) ? Number(text) : Number.POSITIVE_INFINITY;
  return most <= MAX ? most : undefined;
}

/** A duration ends today. A date is that day. Undefined for a day in the future. */
function sinceOf(text: string, now: EpochMs): UsageDay | undefined {
  const length = parseDuration(text);
  if (length !== undefined) return daysBefore(now, Math.ceil(length / DAY_MS));
  const instant = parseInstant(text);
  return instant === undefined || instant > now ? undefined : dayOf(instant);
}
