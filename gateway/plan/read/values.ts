// Plain values of a document by path: looked up for checks, changed while a shape is narrowed down.
import { maskPasswords } from '../problems.ts';

/** Any steps into maps and lists; `Path` of document.ts is the kind that has a place in a file. */
type Steps = readonly PropertyKey[];

/** Undefined when nothing is there. */
export function valueAt(root: unknown, path: Steps): unknown {
  let value = root;
  for (const key of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined;
  }
  return value;
}

/** Does nothing when the parent of `path` is not there. */
export function setAt(root: unknown, path: Steps, value: unknown): void {
  const parent = valueAt(root, path.slice(0, -1));
  const key = path.at(-1);
  if (typeof parent === 'object' && parent !== null && key !== undefined) Reflect.set(parent, key, value);
}

/** Takes out a key of a map; in a list, whose entries keep their places, `gone` stands for the entry. */
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

/** Keys of a map; none of anything else. */
export function keysOf(value: unknown): readonly string[] {
  return isMap(value) ? Object.keys(value) : [];
}

/** Whether `path` fits `pattern`: `*` stands for any key or index, `**` at the beginning for any keys. */
export function standsAt(path: readonly (string | number)[], pattern: readonly string[]): boolean {
  const [first, ...rest] = pattern;
  if (first === '**')
    return path.length >= rest.length && standsAt(path.slice(path.length - rest.length), rest);
  return path.length === pattern.length && pattern.every((key, index) => key === '*' || key === path[index]);
}

/** One text per path, to keep things by. */
export function pointer(path: readonly (string | number)[]): string {
  return path.join('\u0000');
}

/** A value as an operator is shown it, shortened and without passwords. */
export function quote(value: unknown): string {
  if (value === null) return 'nothing';
  if (typeof value === 'string')
    return JSON.stringify(maskPasswords(value.length > 60 ? `${value.slice(0, 59)}…` : value));
  if (typeof value === 'boolean') return String(value);
  return Array.isArray(value) ? 'a list' : 'a map';
}
