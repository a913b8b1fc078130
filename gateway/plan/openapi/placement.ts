// Maps the paths of a description to operation names of an API and back.
import {
  formatOperation,
  OPERATION_METHODS,
  type OperationTemplate,
  parseOperation,
  type TemplateSegment,
} from '../../policy/lifecycle/operation-template.ts';
import { keysOf, valueAt } from '../read/values.ts';
import type { DescribedOperation, Description } from './description.ts';

export type PlacedPath =
  | { readonly kind: 'operation'; readonly template: OperationTemplate; readonly name: string }
  /** The path belongs to another API. */
  | { readonly kind: 'elsewhere' }
  /** No operation name can express the method or path. */
  | { readonly kind: 'inexpressible'; readonly why: string };

export interface PlacedOperation {
  readonly stated: DescribedOperation;
  readonly placed: PlacedPath;
}

export interface Placement {
  readonly label: string;
  readonly labels: readonly string[];
  /** `/api/{version}/orders`. */
  readonly versionedPath: string | undefined;
  readonly operations: readonly PlacedOperation[];
  readonly place: (method: string, path: string) => PlacedPath;
  /** The path of an operation of this version, as the description would have it. */
  readonly pathOf: (template: OperationTemplate) => string;
}

/** An interpretation of the paths: put `server` in front, then remove `prefix`. */
interface PathReading {
  readonly server: readonly string[];
  readonly prefix: readonly string[];
}

/**
 * Paths lie below the base, the versioned path or the upstream path, with or without the path of `servers`. The
 * interpretation that fits the most paths wins; if none fits, paths start at the base.
 */
export function placeIn(policy: unknown, label: string, description: Description): Placement {
  const resolve = valueAt(policy, ['resolve']);
  const versionedPath = (Array.isArray(resolve) ? resolve : [])
    .map((entry) => textAt(entry, ['path']))
    .find((path) => path !== undefined);
  const base = textAt(policy, ['base']);
  const upstreamPath = textAt(policy, ['upstreams', label, 'path']);
  const server = segmentsOf(serverPath(description.servers[0]));
  const prefixes = [versionedPath?.replace('{version}', label), base, upstreamPath]
    .filter((path) => path !== undefined)
    .map(segmentsOf);
  const readings = [server, []].flatMap((front) => prefixes.map((prefix) => ({ server: front, prefix })));
  const paths = [...new Set(description.operations.map(({ path }) => path))].map(segmentsOf);
  let best: PathReading = { server: [], prefix: [] };
  let most = 0;
  for (const reading of readings) {
    const fitting = paths.filter((path) => tailIn(reading, path, label) !== undefined).length;
    if (fitting <= most) continue;
    best = reading;
    most = fitting;
  }
  const place = (method: string, path: string): PlacedPath => {
    const tail = tailIn(best, segmentsOf(path), label);
    return tail === undefined ? { kind: 'elsewhere' } : asOperation(method, tail);
  };
  return {
    label,
    labels: keysOf(valueAt(policy, ['versions'])),
    versionedPath,
    operations: description.operations.map((stated) => ({
      stated,
      placed: place(stated.method, stated.path),
    })),
    place,
    pathOf: ({ segments }) => {
      const tail = segments.map((each) => (each.kind === 'literal' ? each.text : `{${each.name}}`));
      return `/${[...best.prefix, ...tail].slice(best.server.length).join('/')}`;
    },
  };
}

function textAt(value: unknown, path: readonly string[]): string | undefined {
  const found = valueAt(value, path);
  return typeof found === 'string' ? found : undefined;
}

/** The path of a server URL without a trailing slash. Empty for the root and for malformed URLs. */
export function serverPath(server: string | undefined): string {
  if (server === undefined) return '';
  const path =
    /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*([^?#]*)/i.exec(server)?.[1] ?? /^[^?#]*/.exec(server)?.[0] ?? '';
  return path.replace(/\/+$/, '');
}

export function segmentsOf(path: string): readonly string[] {
  return path.split('/').filter((segment) => segment !== '');
}

/** Operation segments of described segments. Undefined if a segment mixes literals and parameters. */
export function templateSegments(tail: readonly string[]): readonly TemplateSegment[] | undefined {
  const names = new Set<string>();
  const segments: TemplateSegment[] = [];
  for (const segment of tail) {
    const name = /^\{([^{}]+)\}$/.exec(segment)?.[1];
    if (name === undefined) {
      if (/[{}]/.test(segment)) return undefined;
      segments.push({ kind: 'literal', text: segment });
      continue;
    }
    // Names of parameters are local to the file. Some names of descriptions are not allowed in a policy.
    const plain = name
      .replace(/[^A-Za-z0-9_]/g, '_')
      .replace(/^(?=\d)/, '_')
      .slice(0, 36);
    let free = plain;
    for (let number = 2; names.has(free); number += 1) free = `${plain}_${number}`;
    names.add(free);
    segments.push({ kind: 'parameter', name: free });
  }
  return segments;
}

function asOperation(method: string, tail: readonly string[]): PlacedPath {
  const known = OPERATION_METHODS.find((each) => each === method && each !== '*');
  if (known === undefined)
    return { kind: 'inexpressible', why: `${method} is not a method of operations here` };
  const segments = templateSegments(tail);
  const name = segments && formatOperation({ method: known, segments });
  const parsed = name === undefined ? undefined : parseOperation(name);
  if (name === undefined || parsed?.kind !== 'operation')
    return { kind: 'inexpressible', why: 'a segment of its path is neither plain text nor one {parameter}' };
  return { kind: 'operation', template: parsed.template, name };
}

function tailIn(
  { server, prefix }: PathReading,
  path: readonly string[],
  label: string,
): readonly string[] | undefined {
  const whole = [...server, ...path];
  const fits = prefix.every((segment, index) => {
    const there = whole[index];
    return there === segment || (segment === label && there !== undefined && /^\{[^{}]+\}$/.test(there));
  });
  return fits && whole.length >= prefix.length ? whole.slice(prefix.length) : undefined;
}
