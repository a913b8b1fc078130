// Fills in the defaults that the descriptions of the grammar name.
import type { z } from 'zod';
import { SECTIONS } from '../../sections/list.ts';
import type { Path } from '../read/document.ts';
import { isMap } from '../read/values.ts';

type Schema = z.core.JSONSchema.JSONSchema;

const LITERAL = /\b[Dd]efault ([^\s;,]+(?:, [^\s;,]+)*)/;
/** Sections with defaults that apply even if the key is missing. */
const ALWAYS_IN_FORCE: ReadonlySet<string> = new Set([
  ...['bounds', 'overload', 'drain', 'ledger', 'access_log'],
  ...SECTIONS.flatMap(({ alwaysInForce = [] }) => alwaysInForce),
]);
const SHORTHANDS: Readonly<Record<string, string>> = Object.assign(
  {},
  ...SECTIONS.map(({ shorthands }) => shorthands),
);
const WITHOUT_DEFAULTS: ReadonlySet<string> = new Set(
  SECTIONS.flatMap(({ leftAsWritten = [] }) => leftAsWritten),
);
/** `versions: none`. Keys about versions are refused in such an API. */
const UNVERSIONED = 'none';
const KEYS_OF_VERSIONS: ReadonlySet<unknown> = new Set(
  SECTIONS.flatMap(({ needsVersions = [], needsDeprecation = [] }) =>
    [...needsVersions, ...needsDeprecation].flatMap((path) => (path.length === 1 ? path : [])),
  ),
);

export interface FilledValues {
  readonly values: unknown;
  readonly added: readonly Path[];
}

export function withDefaults(schema: Schema, values: unknown, kind: 'gateway' | 'policy'): FilledValues {
  const added: Path[] = [];
  const unversioned = isMap(values) && values.versions === UNVERSIONED;
  const isLeft = (key: string) =>
    kind === 'policy' && (WITHOUT_DEFAULTS.has(key) || (unversioned && KEYS_OF_VERSIONS.has(key)));
  // A version may inherit the key from its API.
  const isInherited = (path: Path, key: string) =>
    path.length === 2 && path[0] === 'versions' && Object.hasOwn(schema.properties ?? {}, key);
  const fill = (node: Schema, value: unknown, path: Path): unknown => {
    if (Array.isArray(value)) {
      const { items } = node;
      if (items === undefined || Array.isArray(items) || typeof items === 'boolean') return value;
      return value.map((item: unknown, index) => fill(fitting(items, item), item, [...path, index]));
    }
    if (!isMap(value)) return value;
    const filled: Record<string, unknown> = {};
    for (const [key, each] of Object.entries(value)) {
      const child = childOf(node, key);
      if (child === undefined || isLeft(key)) {
        filled[key] = each;
        continue;
      }
      const meant = withoutShorthand(key, child, each);
      filled[key] = fill(fitting(child, meant), meant, [...path, key]);
    }
    for (const [key, child] of Object.entries(node.properties ?? {})) {
      if (typeof child === 'boolean' || Object.hasOwn(value, key) || isLeft(key) || isInherited(path, key))
        continue;
      const at = [...path, key];
      const literal = literalOf(child);
      if (literal !== undefined) {
        filled[key] = literal;
        added.push(at);
      } else if (ALWAYS_IN_FORCE.has(key)) {
        const section = fill(fitting(child, {}), {}, at);
        if (isMap(section) && Object.keys(section).length > 0) filled[key] = section;
      }
    }
    return filled;
  };
  return { values: fill(schema, values, []), added };
}

function childOf({ properties, additionalProperties }: Schema, key: string): Schema | undefined {
  const child =
    properties !== undefined && Object.hasOwn(properties, key) ? properties[key] : additionalProperties;
  return typeof child === 'boolean' ? undefined : child;
}

/** The alternative of `anyOf` that `value` has the form of. */
function fitting(schema: Schema, value: unknown): Schema {
  const forms = (schema.anyOf ?? []).filter((form) => typeof form !== 'boolean');
  if (forms.length === 0) return schema;
  const found = forms.find((form) => {
    if (Array.isArray(value)) return form.type === 'array';
    return (
      isMap(value) &&
      form.type === 'object' &&
      Object.keys(value).every((key) => childOf(form, key) !== undefined)
    );
  });
  return found ?? {};
}

function withoutShorthand(key: string, schema: Schema, value: unknown): unknown {
  const name = SHORTHANDS[key];
  const sections = (schema.anyOf ?? []).some((form) => typeof form !== 'boolean' && form.type === 'object');
  return name !== undefined && sections && typeof value === 'string' ? { [name]: value } : value;
}

function literalOf({ description = '', type, items }: Schema): unknown {
  const written = LITERAL.exec(description)?.[1]?.replace(/\.$/, '').split(', ');
  const [first] = written ?? [];
  if (written === undefined || first === undefined) return undefined;
  if (type === 'array' || items !== undefined) return written;
  if (first === 'true' || first === 'false') return first === 'true';
  return /^\d+$/.test(first) ? Number(first) : first;
}
