// Offset pages of a collection: reads page, limit and fields, cuts the page, writes its links (PAG-1).

const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 100;

export interface Page {
  readonly data: readonly unknown[];
  readonly pagination: {
    readonly page: number;
    readonly limit: number;
    readonly total: number;
    readonly totalPages: number;
  };
  readonly links: { readonly first: string; readonly next?: string; readonly last: string };
}

export type PageResult =
  | { readonly kind: 'page'; readonly page: Page }
  | { readonly kind: 'refused'; readonly message: string };

/**
 * PAG-1: a page beyond the end is empty, not missing; a limit above 100 is refused, not clamped.
 * Links hold a query only, so they resolve under whatever path a gateway gave the collection (PAG-3).
 */
export function cutPage(items: readonly object[], query: URLSearchParams): PageResult {
  const page = readCount(query, 'page', 1, Number.MAX_SAFE_INTEGER);
  const limit = readCount(query, 'limit', DEFAULT_LIMIT, MAX_LIMIT);
  if (typeof page === 'string') return { kind: 'refused', message: page };
  if (typeof limit === 'string') return { kind: 'refused', message: limit };
  const total = items.length;
  const totalPages = Math.ceil(total / limit);
  const fields = query.get('fields')?.split(',');
  const link = (to: number) => {
    const target = new URLSearchParams(query);
    target.set('page', String(to));
    target.set('limit', String(limit));
    return `?${target}`;
  };
  return {
    kind: 'page',
    page: {
      data: items.slice((page - 1) * limit, page * limit).map((item) => pickFields(item, fields)),
      pagination: { page, limit, total, totalPages },
      links: {
        first: link(1),
        ...(page < totalPages ? { next: link(page + 1) } : {}),
        last: link(Math.max(1, totalPages)),
      },
    },
  };
}

function readCount(query: URLSearchParams, name: string, fallback: number, max: number): number | string {
  const written = query.getAll(name);
  if (written.length === 0) return fallback;
  const value = Number(written[0]);
  if (written.length > 1 || !/^[1-9]\d*$/.test(written[0] ?? '') || value > max) {
    return max === MAX_LIMIT
      ? `${name} must be one whole number from 1 to ${max}`
      : `${name} must be one whole number from 1 on`;
  }
  return value;
}

function pickFields(item: object, fields: readonly string[] | undefined): unknown {
  if (fields === undefined) return item;
  return Object.fromEntries(Object.entries(item).filter(([name]) => fields.includes(name)));
}

/**
 * PAG-1: a page beyond the end is empty, not missing.
 * Links hold a query only, so they resolve under whatever path a gateway gave the collection (PAG-3).
 */
export function offsetPage(
  data: readonly unknown[],
  { page, limit, total }: { readonly page: number; readonly limit: number; readonly total: number },
  query: URLSearchParams,
): Page {
  const totalPages = Math.ceil(total / limit);
  const link = (to: number) => {
    const target = new URLSearchParams(query);
    target.set('page', String(to));
    target.set('limit', String(limit));
    return `?${target}`;
  };
  return {
    data,
    pagination: { page, limit, total, totalPages },
    links: {
      first: link(1),
      ...(page < totalPages ? { next: link(page + 1) } : {}),
      last: link(Math.max(1, totalPages)),
    },
  };
}
