// Reads and edits versions in the raw query, without changing any other byte (VER-4, VER-8).
import { decodedBytes, resemblesName } from './look-alike.ts';

/** All values of the parameter, percent-decoded, in order. A name without `=` has the empty value. */
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
 * VER-4: parameters with another name that a service may take for `name`, as sent. Some services also split at semicolons:
 * such a parameter is called `;name`. `isIgnored` gets decoded names. `isOurs`: the gateway itself sends the parameter, so
 * a name without a value counts too, because some services take the last one.
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
    // After a semicolon only a name with a value counts: `fields=id;version` lists names.
    if (isBehind && equals < 0 && !isOurs) return;
    const raw = equals < 0 ? piece : piece.slice(0, equals);
    if (!resemblesName(raw, name)) return;
    const own = decodedBytes(raw);
    if ((own === name && !isBehind) || isIgnored(isBehind ? `;${own}` : own)) return;
    // With the `=`, so that the name is not read as a version.
    found.push(equals < 0 ? `${piece}=` : piece);
  };
  for (const pair of pairsOf(search)) {
    const [first = '', ...others] = pair.includes(';') ? pair.split(';') : [pair];
    look(first, isOurs && others.length > 0);
    for (const other of others) look(other, true);
  }
  return found;
}

export function ignoredNames(patterns: readonly string[]): (name: string) => boolean {
  const exact = new Set(patterns);
  const loose = patterns.filter((each) => each.includes('*')).map((each) => each.split('*'));
  return (name) => exact.has(name) || loose.some((parts) => fits(parts, name));
}

/** Whether the parts occur in `name` in this order, the first at its start and the last at its end. */
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

/** Keeps every other byte. Removes the `?` too if nothing else follows it. */
export function withoutParameter(search: string, name: string): string {
  if (search.length < 2) return search;
  const pairs = pairsOf(search);
  const kept = pairs.filter((pair) => decodedBytes(pair.split('=', 1)[0] ?? '') !== name);
  if (kept.length === pairs.length) return search;
  return kept.length === 0 ? '' : `?${kept.join('&')}`;
}

/** Appends a parameter. `name` and `value` must need no encoding. */
export function withParameter(search: string, name: string, value: string): string {
  return `${search.length < 2 ? '?' : `${search}&`}${name}=${value}`;
}

/** Prepends a parameter, because many services read only the first 1,000 parameters. */
export function withParameterFirst(search: string, name: string, value: string): string {
  return `?${name}=${value}${search.length < 2 ? '' : `&${search.slice(1)}`}`;
}

function pairsOf(search: string): readonly string[] {
  return search.length < 2 ? [] : search.slice(1).split('&');
}
