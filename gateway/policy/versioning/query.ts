// A version in the raw query: read as a server would read it, cut without touching a byte of the rest (VER-4, VER-8).
import { decodedBytes, resemblesName } from './look-alike.ts';

/** Every value of the parameter, percent-decoded, in order; a name without `=` has the empty value. */
export function parameterValues(search: string, name: string): readonly string[] {
  const values: string[] = [];
  for (const pair of pairsOf(search)) {
    const equals = pair.indexOf('=');
    if (decodedBytes(equals < 0 ? pair : pair.slice(0, equals)) !== name) continue;
    values.push(equals < 0 ? '' : decodedBytes(pair.slice(equals + 1)));
  }
  return values;
}

/**
 * Parameters with another name that a service may take for `name`, as sent (VER-4). Some services split at semicolons too:
 * such a parameter is called `;name`. `isIgnored` gets decoded names. `isOurs`: the gateway sends that parameter itself, so
 * that a piece without a value counts too: some services take the last one.
 */
export function lookAlikes(
  search: string,
  name: string,
  isIgnored: (name: string) => boolean,
  isOurs = false,
): readonly string[] {
  const found: string[] = [];
  const look = (piece: string, isBehind: boolean): void => {
    const equals = piece.indexOf('=');
    // Behind a semicolon it takes a value: `fields=id;version` lists names.
    if (isBehind && equals < 0 && !isOurs) return;
    const raw = equals < 0 ? piece : piece.slice(0, equals);
    if (!resemblesName(raw, name)) return;
    const own = decodedBytes(raw);
    if ((own === name && !isBehind) || isIgnored(isBehind ? `;${own}` : own)) return;
    // With its `=`, so that no name is taken for a version.
    found.push(equals < 0 ? `${piece}=` : piece);
  };
  for (const pair of pairsOf(search)) {
    const [first = '', ...others] = pair.includes(';') ? pair.split(';') : [pair];
    look(first, isOurs && others.length > 0);
    for (const other of others) look(other, true);
  }
  return found;
}

/** Tells whether a name fits one of `patterns`, where `*` stands for any text. */
export function ignoredNames(patterns: readonly string[]): (name: string) => boolean {
  const exact = new Set(patterns);
  const loose = patterns.filter((each) => each.includes('*')).map((each) => each.split('*'));
  return (name) => exact.has(name) || loose.some((parts) => fits(parts, name));
}

/** Whether the parts stand in `name` in this order, the first at its beginning and the last at its end. */
function fits([first = '', ...others]: readonly string[], name: string): boolean {
  const last = others.at(-1) ?? '';
  if (!name.startsWith(first)) return false;
  let at = first.length;
  for (const part of others.slice(0, -1)) {
    const found = name.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return name.length - last.length >= at && name.endsWith(last);
}

/** The query without the parameter, every other byte as it was; the `?` goes when nothing else stood behind it. */
export function withoutParameter(search: string, name: string): string {
  if (search.length < 2) return search;
  const pairs = pairsOf(search);
  const kept = pairs.filter((pair) => decodedBytes(pair.split('=', 1)[0] ?? '') !== name);
  if (kept.length === pairs.length) return search;
  return kept.length === 0 ? '' : `?${kept.join('&')}`;
}

/** The query with one more parameter behind the others. `name` and `value` need no encoding. */
export function withParameter(search: string, name: string, value: string): string {
  return `${search.length < 2 ? '?' : `${search}&`}${name}=${value}`;
}

/** The same with the parameter before the others: many services read the first 1,000 parameters only. */
export function withParameterFirst(search: string, name: string, value: string): string {
  return `?${name}=${value}${search.length < 2 ? '' : `&${search.slice(1)}`}`;
}

function pairsOf(search: string): readonly string[] {
  return search.length < 2 ? [] : search.slice(1).split('&');
}
