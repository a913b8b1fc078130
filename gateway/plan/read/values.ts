// Reads and changes plain values of a document by path.
import { maskPasswords } from '../problems.ts';

/** Unlike `Path` of document.ts, any steps into maps and lists. */
type Steps = readonly PropertyKey[];

export function valueAt(root: unknown, path: Steps): unknown {
  let value = root;
  for (const key of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined;
  }
  return value;
}

/** Does nothing if the parent of `path` does not exist. */
export function setAt(root: unknown, path: Steps, value: unknown): void {
  const parent = valueAt(root, path.slice(0, -1));
  const key = path.at(-1);
  if (typeof parent === 'object' && parent !== null && key !== undefined) Reflect.set(parent, key, value);
}

/** Removes a key of a map. In a list, `gone` replaces the entry, so that indexes stay valid. */
export function removeAt(root: unknown, path: Steps, gone: object): void {
  const parent = valueAt(root, path.slice(0, -1));
  const key = path.at(-1);
  if (typeof parent !== 'object' || parent === null || key === undefined) return;
  if (Array.isArray(parent)) Reflect.set(parent, key, gone);
  else Reflect.deleteProperty(parent, key);
}

export function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Empty for values other than maps. */
export function keysOf(value: unknown): readonly string[] {
  return isMap(value) ? Object.keys(value) : [];
}

/** Whether `path` matches `pattern`: `*` matches one key or index, `**` at the start any keys. */
export function matchesPath(path: readonly (string | number)[], pattern: readonly string[]): boolean {
  const [first, ...rest] = pattern;
  if (first === '**')
    return path.length >= rest.length && matchesPath(path.slice(path.length - rest.length), rest);
  return path.length === pattern.length && pattern.every((key, index) => key === '*' || key === path[index]);
}

export function pointer(path: readonly (string | number)[]): string {
  return path.join('\u0000');
}

/** A value for messages, shortened and without passwords. */
export function quote(value: unknown): string {
  if (value === null) return 'nothing';
  if (typeof value === 'string')
    return JSON.stringify(maskPasswords(value.length > 60 ? `${value.slice(0, 59)}…` : value));
  if (typeof value === 'boolean') return String(value);
  return Array.isArray(value) ? 'a list' : 'a map';
}
