// Parses an OpenAPI description to a YAML tree with positions.
import { isUtf8 } from 'node:buffer';
import { isAlias, isMap, isScalar, type Node, type Pair, type YAMLMap } from 'yaml';
import type { Problem } from '../problems.ts';
import { aliasTargets } from '../read/alias-targets.ts';
import { createPositions, type Positions, type UnplacedFinding } from '../read/positions.ts';
import { readYaml } from '../read/yaml-text.ts';

/** More than a policy may have. A reload takes about a second for a description of this size. */
export const MAX_DESCRIPTION_BYTES = 2_000_000;
const MAX_TOKENS = 700_000;

/** A range of the text, in offsets. */
export interface Mark {
  readonly from: number;
  readonly to: number;
}

export interface Located<T> {
  readonly value: T;
  readonly mark: Mark;
}

/** `YYYY-MM-DD`. `null` means: no such day. */
export type LocatedDay = Located<string | null> | undefined;

export interface DescriptionText {
  readonly file: string;
  /** Without a byte order mark. */
  readonly text: string;
  /** Undefined if there are problems. */
  readonly root: YAMLMap | undefined;
  readonly problems: readonly Problem[];
  readonly positions: Positions;
  readonly problem: (mark: Mark, remark: UnplacedFinding) => Problem;
  readonly place: (mark: Mark) => string;
  /** Replaces an alias by its target. */
  readonly resolve: (node: Node | null | undefined) => Node | undefined;
  /** The resolved node under `keys`, each in the map of the one before. */
  readonly at: (node: unknown, ...keys: readonly string[]) => Node | undefined;
  /** The pairs of a map with resolved values. Empty for other nodes. */
  readonly pairsOf: (node: unknown) => readonly MapPair[];
}

export interface MapPair {
  readonly key: string;
  readonly mark: Mark;
  readonly value: Node | undefined;
}

/** Does not throw: errors are in `problems`. */
export function readDescriptionText(file: string, bytes: Uint8Array): DescriptionText {
  const tooBig = bytes.byteLength > MAX_DESCRIPTION_BYTES;
  const text = tooBig ? '' : new TextDecoder().decode(bytes);
  const yaml = readYaml(text, { isUtf8: tooBig || isUtf8(bytes), mostTokens: MAX_TOKENS });
  const positions = createPositions(file, text, yaml.lines);
  const problem = ({ from, to }: Mark, remark: UnplacedFinding) => positions.problemAt(from, to, remark);
  const syntax = (mark: Mark, message: string) => problem(mark, { rule: 'syntax', message });
  const problems = yaml.problems.map(({ from, to, message }) => syntax({ from, to }, message));
  const targets = yaml.tree === undefined ? undefined : aliasTargets(yaml.tree);
  const resolve = (node: Node | null | undefined): Node | undefined =>
    (isAlias(node) ? targets?.get(node) : node) ?? undefined;
  const contents = yaml.tree?.contents;
  if (tooBig) problems.push(syntax({ from: 0, to: 1 }, 'the description is larger than 2 MB'));
  else if (problems.length === 0 && !isMap(contents))
    problems.push(syntax({ from: 0, to: 1 }, 'not an OpenAPI description: a map at the top'));
  return {
    file,
    text,
    root: isMap(contents) ? contents : undefined,
    problems,
    positions,
    problem,
    place: ({ from }) => {
      const { line, column } = positions.originAt(from);
      return `${file}:${line}:${column}`;
    },
    resolve,
    at: (node, ...keys) =>
      keys.reduce((within: unknown, key) => resolve(findPair(within, key)?.value), node) as Node | undefined,
    pairsOf: (node) =>
      itemsOf(node).flatMap(({ key, value }) =>
        isScalar(key) ? [{ key: keyText(key), mark: markOf(key), value: resolve(value) }] : [],
      ),
  };
}

export function findPair(node: unknown, key: string): MapItem | undefined {
  return itemsOf(node).find((pair) => isScalar(pair.key) && keyText(pair.key) === key);
}

export type MapItem = Pair<Node, Node | null>;

function itemsOf(node: unknown): readonly MapItem[] {
  return isMap(node) ? (node.items as MapItem[]) : [];
}

/** Without comments after the node. */
export function markOf(node: Node): Mark {
  const [from = 0, to = 0] = node.range ?? [];
  return { from, to };
}

/** A scalar as text, `1.10` for the number 1.1. Undefined for null, maps, lists and absent nodes. */
export function scalarText(node: Node | undefined): string | undefined {
  if (!isScalar(node) || node.value === null) return undefined;
  return typeof node.value === 'string' ? node.value : (node.source ?? String(node.value));
}

export function textOf(node: Node | undefined): string | undefined {
  return isScalar(node) && typeof node.value === 'string' ? node.value : undefined;
}

function keyText(key: { readonly source?: unknown; readonly value: unknown }): string {
  return typeof key.value === 'string' ? key.value : String(key.source ?? key.value);
}
