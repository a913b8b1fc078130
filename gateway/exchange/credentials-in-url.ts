// Finds a credential that was put into the query, where logs and histories keep it.
// Asked by the pipeline right after the guard, before a route is known.

/** The name of a forbidden parameter present in the raw query (`?…`), percent-decoded as a server would; else undefined. */
export function credentialInQuery(search: string, forbidden: ReadonlySet<string>): string | undefined {
  if (search.length < 2 || forbidden.size === 0) return undefined;
  for (const pair of search.slice(1).split('&')) {
    const equals = pair.indexOf('=');
    const name = decodeName(equals === -1 ? pair : pair.slice(0, equals));
    if (forbidden.has(name)) return name;
  }
  return undefined;
}

function decodeName(raw: string): string {
  if (!raw.includes('%') && !raw.includes('+')) return raw;
  // Decoded byte by byte: a malformed triplet elsewhere in the name must not hide it.
  return raw
    .replaceAll('+', ' ')
    .replace(/%[0-9A-Fa-f]{2}/g, (triplet) => String.fromCharCode(Number.parseInt(triplet.slice(1), 16)));
}
