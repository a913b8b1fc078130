// Every path of a grammar, from the generated editor schema. `*`: a chosen name, `#`: a list entry.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

type Kind = 'policy' | 'gateway';
type Schema = { readonly [key: string]: unknown };

/** A schema allowed at a path. Several for one path are the branches of a union. */
export interface Place {
  readonly path: string;
  readonly schema: Schema;
}

export function placesOf(kind: Kind): readonly Place[] {
  const file = join(import.meta.dirname, `../../config/schema/${kind}.schema.json`);
  const root = JSON.parse(readFileSync(file, 'utf8')) as Schema;
  const places: Place[] = [];
  const walk = (node: unknown, path: readonly string[]): void => {
    if (typeof node !== 'object' || node === null) return;
    const schema = node as Schema;
    if (typeof schema.$ref === 'string') {
      const target = schema.$ref
        .split('/')
        .slice(1)
        .reduce<unknown>((within, key) => (within as Schema)[key], root);
      walk(target, path);
      return;
    }
    places.push({ path: path.join('.'), schema });
    for (const branches of [schema.anyOf, schema.oneOf, schema.allOf])
      if (Array.isArray(branches)) for (const branch of branches) walk(branch, path);
    for (const [key, child] of Object.entries((schema.properties ?? {}) as Schema))
      walk(child, [...path, key]);
    walk(schema.additionalProperties, [...path, '*']);
    walk(schema.items, [...path, '#']);
  };
  walk(root, []);
  return places;
}

/** The paths where free text is allowed, each once; enumerations are left out. */
export function textPlaces(kind: Kind): readonly string[] {
  const texts = placesOf(kind).filter(({ schema }) => schema.type === 'string' && !('enum' in schema));
  return [...new Set(texts.map(({ path }) => path))];
}
