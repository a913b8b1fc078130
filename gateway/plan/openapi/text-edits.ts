// Changes to the text of a YAML or JSON file that leave every other byte as it was: comments, order, quotes, indentation.
// A value is replaced where it stands; what is new goes behind a key that is there, in the style of its neighbours.
import { isMap, isScalar, isSeq, type Node, type Pair, type Scalar, type YAMLMap } from 'yaml';
import { type DescriptionText, findPair, markOf } from './description-text.ts';
import { blockLines, flowText, replacementText, styleOf, type Wanted } from './text-style.ts';

interface Edit {
  readonly owner: Node;
  readonly from: number;
  readonly to: number;
  readonly text: string;
  /** Of two insertions at one place the deeper comes first: it belongs to what ends there. */
  readonly depth: number;
}

export interface TextEdits {
  /** Makes `map` say what is wanted. New keys follow the last of `behind` that is there, else the last key of the map. */
  readonly want: (map: YAMLMap, wanted: Wanted, behind?: readonly string[]) => void;
  /** The text with all changes; undefined where one place would have to say two things. */
  readonly apply: () => string | undefined;
}

type MapItem = Pair<Node, Node | null>;

export function createTextEdits(source: DescriptionText): TextEdits {
  const { text, root } = source;
  const style = styleOf(text, root);
  const edits = new Map<string, Edit>();
  let contradicts = false;
  const add = (edit: Edit): void => {
    const { line, column } = source.positions.originAt(edit.owner.range?.[0] ?? 0);
    const name = `${line}:${column} ${edit.from} ${edit.to}`;
    const known = edits.get(name);
    if (known !== undefined && known.text !== edit.text) contradicts = true;
    edits.set(name, edit);
  };

  const want = (map: YAMLMap, wanted: Wanted, behind: readonly string[], depth: number): void => {
    const missing: [string, Wanted[string]][] = [];
    for (const [key, value] of Object.entries(wanted)) {
      const pair = findPair(map, key);
      const there = source.resolve(pair?.value ?? undefined);
      if (pair === undefined) missing.push([key, value]);
      else if (isMap(there) && isBranch(value)) want(there, value, [], depth + 1);
      else if (isScalar(there) || there === undefined) replace(pair, there, value, depth);
      else contradicts = true;
    }
    if (missing.length > 0) insert(map, Object.fromEntries(missing), behind, depth);
  };

  const replace = (pair: MapItem, there: Scalar | undefined, value: Wanted[string], depth: number): void => {
    if (there !== undefined && there.value === value) return;
    if (isBranch(value)) {
      // `x-lifecycle:` without a value is an empty map.
      if (there !== undefined && there.value !== null) contradicts = true;
      else add({ ...markAt(pair, there), text: ` ${flowText(value, style)}`, depth });
      return;
    }
    const place = markAt(pair, there);
    const written = replacementText(there, value, style);
    add({ ...place, text: place.from === place.to ? ` ${written}` : written, depth });
  };

  const insert = (map: YAMLMap, wanted: Wanted, behind: readonly string[], depth: number): void => {
    const items = map.items as MapItem[];
    const named = items.findLast(({ key }) => isScalar(key) && behind.includes(String(key.value)));
    const anchor = named ?? items.at(-1);
    const { from, to } = markOf(map);
    if (anchor === undefined) {
      add({ owner: map, from: from + 1, to: to - 1, text: flowText(wanted, style).slice(1, -1), depth });
      return;
    }
    const column = indentAt(text, markOf(anchor.key).from);
    const end = endOf(anchor);
    if (map.flow) {
      const separator = column.isAlone ? `,${style.eol}${column.indent}` : style.isCompact ? ',' : ', ';
      const indent = column.isAlone ? column.indent : undefined;
      add({
        owner: map,
        from: end,
        to: end,
        text: separator + flowText(wanted, style, indent, separator),
        depth,
      });
      return;
    }
    const lines = blockLines(wanted, column.indent, style);
    if (text[end - 1] === '\n') {
      add({ owner: map, from: end, to: end, text: lines, depth });
      return;
    }
    const newline = text.indexOf('\n', end);
    const at = newline < 0 ? text.length : newline + 1;
    const whole = newline < 0 ? style.eol + lines.slice(0, -style.eol.length) : lines;
    add({ owner: map, from: at, to: at, text: whole, depth });
  };

  return {
    want: (map, wanted, behind = []) => want(map, wanted, behind, 0),
    apply: () => (contradicts ? undefined : spliced(text, [...edits.values()])),
  };
}

function isBranch(value: Wanted[string]): value is Wanted {
  return typeof value === 'object' && value !== null;
}

function spliced(text: string, edits: readonly Edit[]): string | undefined {
  const inOrder = edits.toSorted((a, b) => a.from - b.from || a.to - b.to || b.depth - a.depth);
  const parts: string[] = [];
  let at = 0;
  for (const { from, to, text: written } of inOrder) {
    if (from < at) return undefined;
    parts.push(text.slice(at, from), written);
    at = to;
  }
  return parts.join('') + text.slice(at);
}

/** Where a value stands, or would: right behind the colon. */
function markAt({ key }: MapItem, there: Scalar | undefined) {
  const { from, to } = there === undefined ? { from: 0, to: 0 } : markOf(there);
  if (there !== undefined && to > from) return { owner: there, from, to };
  const colon = markOf(key).to + 1;
  return { owner: key, from: colon, to: colon };
}

/** The end of what an item says, without comments and blank lines. */
function endOf({ key, value }: MapItem): number {
  return value === null ? markOf(key).to : endOfNode(value);
}

function endOfNode(node: Node): number {
  if ((isMap(node) || isSeq(node)) && !node.flow) {
    const last: unknown = node.items.at(-1);
    if (isMap(node) && last !== undefined) return endOf(last as MapItem);
    if (last !== undefined && last !== null) return endOfNode(last as Node);
  }
  return markOf(node).to;
}

function indentAt(text: string, offset: number): { readonly indent: string; readonly isAlone: boolean } {
  const before = text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset);
  const isAlone = /^[ \t]*$/.test(before);
  return { indent: isAlone ? before : ' '.repeat(before.length), isAlone };
}
