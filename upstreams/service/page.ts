// The two kinds of page: numbered ones with links to their neighbours, and those that go on after an item.
// Written as the specification has them (PAG-1, PAG-2), from what records.ts has found.

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
 * PAG-1: a page beyond the end is empty, not missing.
 * Links hold a query only, so they resolve under whatever path a gateway gave the collection (PAG-3).
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

/** PAG-2: the target of the `Link` that leads on after the item called `id`. */
export function linkAfter(id: string, limit: number, query: URLSearchParams): string {
  return linkWith(query, { starting_after: id, limit: String(limit) });
}

function linkWith(query: URLSearchParams, parts: Readonly<Record<string, string>>): string {
  const target = new URLSearchParams(query);
  for (const [name, value] of Object.entries(parts)) target.set(name, value);
  return `?${target}`;
}
