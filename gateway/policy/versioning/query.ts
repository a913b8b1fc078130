// A version in the raw query: read as a server would read it, cut without touching a byte of the rest (VER-4, VER-8).
// The reader of the `query` carrier, and what the forward order does to the query.

/** Every value of the parameter, percent-decoded, in order; a name without `=` has the empty value. */
export function parameterValues(search: string, name: string): readonly string[] {
  const values: string[] = [];
  for (const pair of pairsOf(search)) {
    const equals = pair.indexOf('=');
    if (decoded(equals < 0 ? pair : pair.slice(0, equals)) !== name) continue;
    values.push(equals < 0 ? '' : decoded(pair.slice(equals + 1)));
  }
  return values;
}

/** The query without the parameter, every other byte as it was; the `?` goes when nothing else stood behind it. */
export function withoutParameter(search: string, name: string): string {
  if (search.length < 2) return search;
  const pairs = pairsOf(search);
  const kept = pairs.filter((pair) => decoded(pair.split('=', 1)[0] ?? '') !== name);
  if (kept.length === pairs.length) return search;
  return kept.length === 0 ? '' : `?${kept.join('&')}`;
}

/** The query with one more parameter behind the others. `name` and `value` need no encoding. */
export function withParameter(search: string, name: string, value: string): string {
  return `${search.length < 2 ? '?' : `${search}&`}${name}=${value}`;
}

function pairsOf(search: string): readonly string[] {
  return search.length < 2 ? [] : search.slice(1).split('&');
}

/** Byte by byte, so that a malformed triplet elsewhere hides nothing and nothing throws. */
function decoded(raw: string): string {
  if (!raw.includes('%') && !raw.includes('+')) return raw;
  return raw
    .replaceAll('+', ' ')
    .replace(/%[0-9A-Fa-f]{2}/g, (triplet) => String.fromCharCode(Number.parseInt(triplet.slice(1), 16)));
}
