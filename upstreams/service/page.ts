// The bodies of list responses: numbered pages (PAG-1) and cursor pages (PAG-2).

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

export interface CursorPage {
  readonly data: readonly unknown[];
  readonly has_more: boolean;
}

/**
 * PAG-1: a page beyond the end is empty, not missing. Links contain a query only, so they work under any path that a gateway
 * gives the collection (PAG-3).
 */
export function offsetPage(
  data: readonly unknown[],
  { page, limit, total }: { readonly page: number; readonly limit: number; readonly total: number },
  query: URLSearchParams,
): Page {
  const totalPages = Math.ceil(total / limit);
  const link = (to: number) => linkWith(query, { page: String(to), limit: String(limit) });
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

/** PAG-2: the target of the `Link` to the page after item `id`. */
export function linkAfter(id: string, limit: number, query: URLSearchParams): string {
  return linkWith(query, { starting_after: id, limit: String(limit) });
}

function linkWith(query: URLSearchParams, parts: Readonly<Record<string, string>>): string {
  const target = new URLSearchParams(query);
  for (const [name, value] of Object.entries(parts)) target.set(name, value);
  return `?${target}`;
}
