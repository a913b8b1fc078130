// Parses the query of a list request: filters, order, fields and page; unknown parameters are refused, so that a misspelt filter
// does not return everything.
import type { Condition, Ordering } from './records.ts';

export interface Filter {
  readonly column: string;
  readonly compare: Condition['compare'];
  /** Undefined for an invalid value. */
  readonly read: (text: string) => string | number | undefined;
  /** Completes the message "<name> must be …". */
  readonly means: string;
}

/** Names of fields, filters and sort keys in one edition of an API. */
export interface ListNames {
  readonly fields: readonly string[];
  readonly filters: Readonly<Record<string, Filter>>;
  /** Columns by the names that clients sort by. */
  readonly sorts: Readonly<Record<string, string>>;
}

export interface ListQuery {
  readonly where: readonly Condition[];
  readonly order: readonly Ordering[];
  /** Undefined: all fields. */
  readonly fields: readonly string[] | undefined;
  readonly limit: number;
  /** For offset pages, from 1. */
  readonly page: number;
  /** For cursor pages: the id of the last item seen. */
  readonly startingAfter: string | undefined;
}

export type Paging = 'offset' | 'cursor';

const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 100;
/** Sort keys per request. A cursor works with one only. */
const MAX_SORTS = { offset: 3, cursor: 1 } as const;

/** The query, or the message of a 400. */
export function readListQuery(query: URLSearchParams, names: ListNames, paging: Paging): ListQuery | string {
  const place = paging === 'offset' ? 'page' : 'starting_after';
  const sort = Object.keys(names.sorts).length === 0 ? [] : ['sort'];
  const known = [place, 'limit', 'fields', ...sort, ...Object.keys(names.filters)];
  const wrong = refuseNames(query, known);
  if (wrong !== undefined) return wrong;
  const limit = readCount(query, 'limit', DEFAULT_LIMIT, MAX_LIMIT);
  if (typeof limit === 'string') return limit;
  const page = paging === 'offset' ? readCount(query, 'page', 1, Number.MAX_SAFE_INTEGER) : 1;
  if (typeof page === 'string') return page;
  const fields = readFields(query, names);
  if (typeof fields === 'string') return fields;
  const order = readSort(query.get('sort'), names, MAX_SORTS[paging]);
  if (typeof order === 'string') return order;
  const where = readFilters(query, names);
  if (typeof where === 'string') return where;
  return { where, order, fields, limit, page, startingAfter: query.get('starting_after') ?? undefined };
}

/** The requested fields, undefined for all, or the message of a 400. */
export function readFields(
  query: URLSearchParams,
  { fields: known }: Pick<ListNames, 'fields'>,
): readonly string[] | undefined | string {
  const written = query.get('fields')?.split(',');
  const unknown = written?.find((name) => !known.includes(name));
  return unknown === undefined
    ? written
    : `fields has ${JSON.stringify(unknown)}, not one of ${known.join(', ')}`;
}

/** The message of a 400 for unknown or repeated parameters; undefined if there are none. */
export function refuseNames(query: URLSearchParams, known: readonly string[]): string | undefined {
  for (const name of new Set(query.keys())) {
    if (!known.includes(name)) return `Unknown parameter ${JSON.stringify(name)}; known: ${known.join(', ')}`;
    if (query.getAll(name).length > 1) return `${name} may be given once`;
  }
  return undefined;
}

function readCount(query: URLSearchParams, name: string, fallback: number, max: number): number | string {
  const written = query.get(name);
  if (written === null) return fallback;
  const value = Number(written);
  if (/^[1-9]\d*$/.test(written) && value <= max) return value;
  const upTo = max === MAX_LIMIT ? `to ${max}` : 'on';
  return `${name} must be one whole number from 1 ${upTo}`;
}

function readSort(written: string | null, { sorts }: ListNames, most: number): readonly Ordering[] | string {
  if (written === null) return [];
  const known = Object.keys(sorts).join(', ');
  const order: Ordering[] = [];
  for (const name of written.split(',')) {
    const descending = name.startsWith('-');
    const bare = descending ? name.slice(1) : name;
    const column = Object.hasOwn(sorts, bare) ? sorts[bare] : undefined;
    if (column === undefined)
      return `sort has ${JSON.stringify(name)}; it may be ${known}, with "-" before it for descending order`;
    if (order.some((each) => each.column === column)) return `sort names ${bare} twice`;
    order.push({ column, descending });
  }
  return order.length <= most ? order : `sort may have ${most === 1 ? 'one name' : `${most} names`} at most`;
}

function readFilters(query: URLSearchParams, { filters }: ListNames): readonly Condition[] | string {
  const where: Condition[] = [];
  for (const [name, { column, compare, read, means }] of Object.entries(filters)) {
    const written = query.get(name);
    if (written === null) continue;
    const value = read(written);
    if (value === undefined) return `${name} must be ${means}`;
    where.push({ column, compare, value });
  }
  return where;
}
