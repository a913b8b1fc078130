// Reads a YAML file to plain values with the position of each.
import { isUtf8 } from 'node:buffer';
import { isAlias, isMap, isScalar, isSeq, type Node, type Pair } from 'yaml';
import type { Problem } from '../problems.ts';
import { aliasTargets } from './alias-targets.ts';
import { concealed, isConcealed, shownKey, showsKeys, withoutOutside } from './concealed.ts';
import { MAX_BYTES } from './files.ts';
import type { Interpolated, Sources } from './interpolate.ts';
import { createPositions, rangeOf, type UnplacedFinding } from './positions.ts';
import { controlProblem, readText } from './texts.ts';
import { pointer, quote } from './values.ts';
import { readYaml } from './yaml-text.ts';

export type Path = readonly (string | number)[];

/** `line` and `column` from 1. */
export interface Origin {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

export interface Finding extends UnplacedFinding {
  /** Mark the key of `path` instead of its value. */
  readonly at?: 'key' | 'value';
}

export interface SourceDocument {
  readonly file: string;
  /** Maps without prototype, arrays and scalars. Undefined if the file is not YAML. */
  readonly value: unknown;
  readonly problems: readonly Problem[];
  /** A problem at `path`, or at its nearest existing ancestor. */
  readonly problem: (path: Path, finding: Finding) => Problem;
  /** The value for a message: quoted and shortened, or `[redacted]` with its source. */
  readonly show: (path: Path, value: unknown) => string;
  /** The position of the key of `path`, or of its value. Undefined if it does not exist. */
  readonly origin: (path: Path) => Origin | undefined;
  /** Whether the value at `path` was substituted, so that nothing of it may be shown. */
  readonly isSecret: (path: Path) => boolean;
  /** Whether no part of the value at `path` may be quoted: it was substituted, or has a secret key. */
  readonly isHidden: (path: Path) => boolean;
  /** Whether a finding may quote the value at `path`: not hidden, and on one line. */
  readonly isQuotable: (path: Path) => boolean;
  /** Whether part of the value at `path` comes from outside the file. Defaults of variables do not count. */
  readonly isOutside: (path: Path) => boolean;
  /** Whether `path` exists in the text, even if its value could not be read. */
  readonly has: (path: Path) => boolean;
  /** Keys at the top that appear twice, for example if two files were concatenated. */
  readonly repeated: ReadonlySet<string>;
  /** A scalar exactly as written, `1.10` for the number 1.1. */
  readonly written: (path: Path) => string | undefined;
  /** The substituted values, in document order. Part of the revision. */
  readonly broughtIn: readonly string[];
}

interface Place {
  readonly key: readonly [number, number] | undefined;
  readonly value: readonly [number, number];
  readonly written: string | undefined;
  /** Variables and files that were substituted. Empty for a literal value. */
  readonly from: readonly string[];
  readonly outside: boolean;
  /** The value has several lines. Lines of a secret that lost their key would join the value above. */
  readonly hasLines: boolean;
}

const MAX_NODES = 20_000;
const DEEPEST = 30;

/** Does not throw: errors are in `problems`. */
export function readDocument(file: string, bytes: Uint8Array, sources: Sources): SourceDocument {
  const problems: Problem[] = [];
  const places = new Map<string, Place>();
  const broughtIn: string[] = [];
  const repeated = new Set<string>();
  const tooBig = bytes.byteLength > MAX_BYTES;
  const text = tooBig ? '' : new TextDecoder().decode(bytes);
  const yaml = readYaml(text, { isUtf8: tooBig || isUtf8(bytes) });
  const { problemAt, originAt } = createPositions(file, text, yaml.lines, () => concealed(text, yaml.drafts));

  const hide = (text: string) => withoutOutside(text, sources.outside);
  const problem = (path: Path, written: Finding): Problem => {
    const finding = { ...written, message: hide(written.message), hint: written.hint && hide(written.hint) };
    for (let length = path.length; length >= 0; length -= 1) {
      const place = places.get(pointer(path.slice(0, length)));
      if (place === undefined) continue;
      const exact = length === path.length && finding.at !== 'key';
      const [from, to] = exact ? place.value : (place.key ?? place.value);
      return problemAt(from, to, finding);
    }
    return problemAt(0, 1, finding);
  };
  const refuse = (node: Node | undefined, finding: Omit<Finding, 'rule'>): undefined => {
    problems.push(problemAt(...rangeOf(node), { rule: 'syntax', ...finding }));
    return undefined;
  };

  const targets = yaml.tree === undefined ? undefined : aliasTargets(yaml.tree);
  let nodes = 0;
  let tooLarge = false;
  const plain = (node: Node | null | undefined, path: Path, key: Node | undefined): unknown => {
    if (tooLarge) return undefined;
    nodes += 1;
    if (nodes > MAX_NODES || path.length > DEEPEST) {
      tooLarge = true;
      return refuse(node ?? undefined, { message: 'aliases or nesting make this file too large' });
    }
    const target = isAlias(node) ? targets?.get(node) : node;
    if (isAlias(node) && target === undefined)
      return refuse(node, {
        message: `no anchor above has ${isConcealed(path) ? 'this name' : `the name &${node.source}`}`,
      });
    const written = isScalar(target) ? (target.source ?? undefined) : undefined;
    const raw: unknown = isScalar(target) ? target.value : undefined;
    // `!!timestamp`, `!!binary`, or a date under `%YAML 1.1`.
    if (typeof raw === 'object' && raw !== null)
      return refuse(node ?? undefined, {
        message: 'a tag or a %YAML line changes the type of this value: remove it',
      });
    const filled = typeof raw === 'string' ? readText(raw, path, sources) : LITERAL;
    places.set(pointer(path), {
      key: key && rangeOf(key),
      value: rangeOf(node ?? key),
      written,
      from: filled.kind === 'literal' ? [] : filled.from,
      outside: filled.kind === 'replaced' && filled.outside,
      hasLines:
        isScalar(target) &&
        text
          .slice(...rangeOf(target))
          .trimEnd()
          .includes('\n'),
    });
    if (filled.kind === 'failed') return refuse(node ?? undefined, { ...filled });
    if (filled.kind === 'replaced') {
      broughtIn.push(filled.text);
      return filled.text;
    }
    if (isMap(target)) return plainMap(target.items as Pair<Node, Node | null>[], path);
    if (isSeq(target))
      return target.items.map((item, index) => plain(item as Node, [...path, index], undefined));
    return raw ?? null;
  };
  const plainMap = (items: readonly Pair<Node, Node | null>[], path: Path): unknown => {
    const map: Record<string, unknown> = Object.create(null);
    for (const { key, value } of items) {
      if (!isScalar(key)) {
        const hint = 'write a word, or quote the whole value';
        refuse(key, { message: 'keys are plain words', hint });
        continue;
      }
      const name = key.source ?? String(key.value);
      const malformed = controlProblem(name, path);
      if (name.startsWith('x-') && !holdsFieldNames(path)) continue;
      if (malformed !== undefined) refuse(key, malformed);
      else if (name === '__proto__') refuse(key, { message: 'this key is not allowed' });
      else if (name in map) {
        if (path.length === 0) repeated.add(name);
        const message = `${showsKeys(path) ? `the key "${shownKey(name)}"` : 'this key'} is already given above`;
        refuse(key, { message, hint: 'remove one of them, or merge their contents' });
      } else {
        if (typeof key.value === 'number') {
          const message = `${showsKeys(path) ? name : 'this key'} is read as a number elsewhere: write it in quotes`;
          problems.push(problemAt(...rangeOf(key), { rule: 'quote', severity: 'warning', message }));
        }
        map[name] = plain(value, [...path, name], key);
      }
    }
    return map;
  };

  const refused = (from: number, to: number, finding: Omit<Finding, 'rule'>) =>
    problems.push(problemAt(from, to, { rule: 'syntax', ...finding }));
  for (const { from, to, ...finding } of yaml.problems) refused(from, to, finding);
  if (tooBig) refused(0, 1, { message: 'the file is larger than 1 MB' });
  else if (yaml.problems.length === 0 && !yaml.tree?.contents)
    refused(0, 1, { message: 'the file is empty', hint: 'write it, or remove the file' });
  const value = yaml.tree?.contents ? plain(yaml.tree.contents, [], undefined) : undefined;

  const hasLines = (path: Path) => places.get(pointer(path))?.hasLines ?? false;
  const isSecret = (path: Path) => (places.get(pointer(path))?.from.length ?? 0) > 0;
  const isHidden = (path: Path) => isConcealed(path) || isSecret(path);
  return {
    file,
    value: tooLarge ? undefined : value,
    problems,
    problem,
    show: (path, shown) => {
      const place = places.get(pointer(path));
      if (place !== undefined && place.from.length > 0) return `[redacted] (from ${place.from.join(', ')})`;
      if (isConcealed(path)) return '[redacted]';
      if (hasLines(path)) return 'several lines';
      return typeof shown === 'number' ? (place?.written ?? String(shown)) : quote(shown);
    },
    origin: (path) => {
      const place = places.get(pointer(path));
      return place && originAt((place.key ?? place.value)[0]);
    },
    isSecret,
    isHidden,
    isQuotable: (path) => !isHidden(path) && !hasLines(path),
    isOutside: (path) => places.get(pointer(path))?.outside ?? false,
    has: (path) => places.has(pointer(path)),
    repeated,
    written: (path) => places.get(pointer(path))?.written,
    broughtIn,
  };
}

const LITERAL: Interpolated = { kind: 'literal' };

/** There, `x-` starts a header name. Elsewhere it starts a note that is ignored. */
function holdsFieldNames([section, , key, below]: Path): boolean {
  return section === 'headers' && key === 'set' && below === undefined;
}
