// Edits the text of a YAML or JSON file and keeps every other byte, since `yaml` would reformat the file.
import { isMap, isScalar, isSeq, type Node, type Scalar, type YAMLMap } from 'yaml';
import { type DescriptionText, findPair, type MapItem, markOf } from './description-text.ts';

/** Values to write into a map. Other keys stay. */
export interface Wanted {
  readonly [key: string]: string | boolean | null | Wanted;
}

interface Style {
  readonly eol: '\n' | '\r\n';
  /** Indentation of one level. */
  readonly step: string;
  readonly isJson: boolean;
  /** No spaces after colons and commas. */
  readonly isCompact: boolean;
}

const WORD = /^[A-Za-z][A-Za-z0-9_-]*$/;
/** YAML 1.1 parsers read these words as booleans or null. */
const YAML_1_1_WORDS = /^(true|false|null|yes|no|on|off|y|n)$/i;

interface Edit {
  readonly owner: Node;
  readonly from: number;
  readonly to: number;
  readonly text: string;
  /** Of two insertions at one offset, the deeper comes first: its map ends there. */
  readonly depth: number;
}

export interface TextEdits {
  /** Sets the values in `map`. New keys follow the last present key of `behind`, or the last key of the map. */
  readonly want: (map: YAMLMap, wanted: Wanted, behind?: readonly string[]) => void;
  /** The edited text. Undefined if one place would need two values. */
  readonly apply: () => string | undefined;
}

export function createTextEdits(source: DescriptionText): TextEdits {
  const { text, root } = source;
  const style = styleOf(text, root);
  const edits = new Map<string, Edit>();
  let conflicts = false;
  const add = (edit: Edit): void => {
    const name = `${markOf(edit.owner).from} ${edit.from} ${edit.to}`;
    const known = edits.get(name);
    if (known !== undefined && known.text !== edit.text) conflicts = true;
    edits.set(name, edit);
  };

  const want = (map: YAMLMap, wanted: Wanted, behind: readonly string[], depth: number): void => {
    const missing: [string, Wanted[string]][] = [];
    for (const [key, value] of Object.entries(wanted)) {
      const pair = findPair(map, key);
      const there = source.resolve(pair?.value);
      if (pair === undefined) missing.push([key, value]);
      else if (isMap(there) && isBranch(value)) want(there, value, [], depth + 1);
      else if (isScalar(there) || there === undefined) replace(pair, there, value, depth);
      else conflicts = true;
    }
    if (missing.length > 0) insert(map, Object.fromEntries(missing), behind, depth);
  };

  const replace = (pair: MapItem, there: Scalar | undefined, value: Wanted[string], depth: number): void => {
    if (there !== undefined && there.value === value) return;
    if (isBranch(value)) {
      // `x-lifecycle:` without a value is an empty map.
      if (there !== undefined && there.value !== null) conflicts = true;
      else add({ ...markAt(pair, there), text: ` ${flowText(value, style)}`, depth });
      return;
    }
    const place = markAt(pair, there);
    const written = replacementText(there, value, style);
    add({ ...place, text: place.from === place.to ? ` ${written}` : written, depth });
  };

  const insert = (map: YAMLMap, wanted: Wanted, behind: readonly string[], depth: number): void => {
    const put = (at: number, written: string, to = at) =>
      add({ owner: map, from: at, to, text: written, depth });
    const items = map.items as MapItem[];
    const named = items.findLast(({ key }) => isScalar(key) && behind.includes(String(key.value)));
    const anchor = named ?? items.at(-1);
    if (anchor === undefined) {
      const { from, to } = markOf(map);
      put(from + 1, flowText(wanted, style).slice(1, -1), to - 1);
      return;
    }
    const { indent, isAlone } = indentAt(text, markOf(anchor.key).from);
    const end = endOf(anchor);
    if (map.flow) {
      const separator = isAlone ? `,${style.eol}${indent}` : style.isCompact ? ',' : ', ';
      put(end, separator + flowText(wanted, style, isAlone ? indent : undefined, separator));
      return;
    }
    const lines = blockLines(wanted, indent, style);
    const newline = text.indexOf('\n', end);
    if (text[end - 1] === '\n') put(end, lines);
    else if (newline >= 0) put(newline + 1, lines);
    else put(text.length, style.eol + lines.slice(0, -style.eol.length));
  };

  return {
    want: (map, wanted, behind = []) => want(map, wanted, behind, 0),
    apply: () => (conflicts ? undefined : spliced(text, [...edits.values()])),
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

/** The range of a value. Without a value, the offset after the colon. */
function markAt({ key }: MapItem, there: Scalar | undefined) {
  const { from, to } = there === undefined ? { from: 0, to: 0 } : markOf(there);
  if (there !== undefined && to > from) return { owner: there, from, to };
  const colon = markOf(key).to + 1;
  return { owner: key, from: colon, to: colon };
}

/** The end of an item, without comments and blank lines. */
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

function styleOf(text: string, root: YAMLMap | undefined): Style {
  const first = root?.items[0]?.key;
  const isJson = root?.flow === true && isScalar(first) && first.type === 'QUOTE_DOUBLE';
  const step = /\n([ \t]+)[^\s#]/.exec(text)?.[1] ?? '  ';
  return {
    eol: text.includes('\r\n') ? '\r\n' : '\n',
    step: isJson || /^ {1,8}$/.test(step) ? step : '  ',
    isJson,
    isCompact: isJson && !/":\s/.test(text),
  };
}

/** Keeps the quotes of `there`. Undefined: no value was written. */
function replacementText(there: Scalar | undefined, value: string | boolean | null, style: Style): string {
  if (typeof value !== 'string') return String(value);
  switch (there?.type) {
    case 'QUOTE_SINGLE':
      return `'${value.replaceAll("'", "''")}'`;
    case 'PLAIN':
      // Stays plain if the value needs no quotes.
      return typeof there.value === 'string' && /^[A-Za-z0-9/][\w./:-]*$/.test(value) && !value.endsWith(':')
        ? value
        : scalarText(value, style);
    case 'BLOCK_FOLDED':
    case 'BLOCK_LITERAL':
      return JSON.stringify(value) + style.eol;
    default:
      return scalarText(value, style);
  }
}

/** Lines of a block map at `indent`, with their line ends. */
function blockLines(wanted: Wanted, indent: string, style: Style): string {
  return Object.entries(wanted)
    .map(([key, value]) =>
      typeof value === 'object' && value !== null
        ? `${indent}${key}:${style.eol}${blockLines(value, indent + style.step, style)}`
        : `${indent}${key}: ${scalarText(value, style)}${style.eol}`,
    )
    .join('');
}

/** With `separator`: only the members, joined by it. With `indent`: nested maps on several lines. */
function flowText(wanted: Wanted, style: Style, indent?: string, separator?: string): string {
  const colon = style.isCompact ? ':' : ': ';
  const members = Object.entries(wanted).map(([key, value]) => {
    const name = style.isJson ? JSON.stringify(key) : key;
    if (typeof value !== 'object' || value === null) return name + colon + scalarText(value, style);
    if (indent === undefined) return name + colon + flowText(value, style);
    const inner = indent + style.step;
    const lines = flowText(value, style, inner, `,${style.eol}${inner}`);
    return `${name}${colon}{${style.eol}${inner}${lines}${style.eol}${indent}}`;
  });
  if (separator !== undefined) return members.join(separator);
  return style.isCompact ? `{${members.join(',')}}` : `{ ${members.join(', ')} }`;
}

function scalarText(value: string | boolean | null, { isJson }: Style): string {
  if (typeof value !== 'string') return String(value);
  return !isJson && WORD.test(value) && !YAML_1_1_WORDS.test(value) ? value : JSON.stringify(value);
}
