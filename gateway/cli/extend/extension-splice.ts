// Inserts an extension at one place of a policy file and keeps every other byte.
import { isAlias, isMap, isScalar, isSeq, type Node, type Pair, type YAMLMap, type YAMLSeq } from 'yaml';
import { aliasTargets } from '../../plan/read/alias-targets.ts';
import { readYaml } from '../../plan/read/yaml-text.ts';

export interface WrittenExtension {
  readonly to: string;
  readonly announced: string;
  readonly why: string;
}

export type SplicedFile =
  /** `inserted` is at offset `at` of `text`. Without it, `text` is the original. */
  | { readonly kind: 'spliced'; readonly text: string; readonly at: number; readonly inserted: string }
  /** A single insertion cannot add the extension. */
  | { readonly kind: 'refused'; readonly message: string };

/** `text`: a policy file without problems. The version, or the API if `label` is undefined, has a sunset in it. */
export function spliceExtension(
  text: string,
  label: string | undefined,
  extension: WrittenExtension,
): SplicedFile {
  const { tree } = readYaml(text, { isUtf8: true });
  const contents = tree?.contents;
  const version = label === undefined ? contents : valueUnder(valueUnder(contents, 'versions'), label);
  const within = label === undefined ? '' : `versions.${label}.`;
  // A change of an anchored node would also change its aliases.
  const shared = new Set(tree && aliasTargets(tree).values());
  if (!isMap(version) || shared.has(version))
    return byReference(label === undefined ? 'the file' : `versions.${label}`);
  const sunset = pairOf(version, 'sunset');
  const extended = pairOf(version, 'extended');
  if (extended !== undefined) {
    if (!isSeq(extended.value) || shared.has(extended.value)) return byReference(`${within}extended`);
    return extended.value.flow === true
      ? intoFlowList(text, extended.value, extension)
      : intoBlockList(text, extended.value, extension);
  }
  if (!isWritten(sunset)) return byReference(`${within}sunset`);
  const list = `[ ${flowMap(extension)} ]`;
  const end = endOf(sunset.value);
  if (version.flow === true) return insert(text, end, `, extended: ${list}`);
  const { indent, width } = placeOf(text, sunset);
  if (indent.trim() !== '') return byReference(`${within}sunset`);
  return insertLines(text, end, [`${indent}${keyed('extended', list, width)}`]);
}

/** If the last entry has its own line, the new one gets its own line too. */
function intoFlowList(text: string, list: YAMLSeq, extension: WrittenExtension): SplicedFile {
  const last = list.items.at(-1) as Node | undefined;
  if (last === undefined) return byReference('extended');
  const end = endOf(last);
  const indent = beforeOnLine(text, startOf(last));
  const isAlone = indent.trim() === '' && /^[ \t]*,?[ \t]*\r?(\n|$)/.test(text.slice(end));
  const between = isAlone ? `,${eolOf(text, end)}${indent}` : ', ';
  return insert(text, end, `${between}${flowMap(extension)}`);
}

/** Has the form of the entry before: one line, or a line for each key with aligned values. */
function intoBlockList(text: string, list: YAMLSeq, extension: WrittenExtension): SplicedFile {
  const last = list.items.at(-1) as Node | undefined;
  if (last === undefined) return byReference('extended');
  const indent = beforeOnLine(text, startOf(list));
  if (indent.trim() !== '') return byReference('extended');
  if (!isMap(last) || last.flow === true)
    return insertLines(text, endOf(last), [`${indent}- ${flowMap(extension)}`]);
  const widths = last.items.flatMap((pair) => (isWritten(pair) ? [placeOf(text, pair).width] : []));
  const width = new Set(widths).size === 1 ? (widths[0] ?? 0) : 0;
  const lines = entriesOf(extension).map(
    ([key, value], index) => `${indent}${index === 0 ? '- ' : '  '}${keyed(key, value, width)}`,
  );
  return insertLines(text, endOf(last), lines);
}

function byReference(where: string): SplicedFile {
  return {
    kind: 'refused',
    message: `${where} is not written out in the usual way: add the extension by hand`,
  };
}

function insert(text: string, at: number, inserted: string): SplicedFile {
  return { kind: 'spliced', text: text.slice(0, at) + inserted + text.slice(at), at, inserted };
}

/** Inserts below the line that contains `end`. Adds no line end to a file without a final one. */
function insertLines(text: string, end: number, lines: readonly string[]): SplicedFile {
  const eol = eolOf(text, end);
  const block = lines.join(eol);
  // A block scalar ends after its line end.
  const lineEnd = text[end - 1] === '\n' ? end - 1 : text.indexOf('\n', end);
  return lineEnd < 0
    ? insert(text, text.length, `${eol}${block}`)
    : insert(text, lineEnd + 1, `${block}${eol}`);
}

/** `indent`: what precedes the key. `width`: columns from the key to its value, 0 if the value is on another line. */
function placeOf(text: string, { key, value }: WrittenPair): { indent: string; width: number } {
  const apart = text.slice(startOf(key), startOf(value));
  return {
    indent: beforeOnLine(text, startOf(key)),
    width: apart.includes('\n') ? 0 : apart.length,
  };
}

function keyed(key: string, value: string, width: number): string {
  const start = `${key}:`.padEnd(width);
  return `${start}${start.endsWith(' ') ? '' : ' '}${value}`;
}

function beforeOnLine(text: string, offset: number): string {
  return text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset);
}

function eolOf(text: string, offset: number): string {
  const next = text.indexOf('\n', Math.max(0, offset - 1));
  const lineEnd = next < 0 ? text.indexOf('\n') : next;
  return lineEnd > 0 && text[lineEnd - 1] === '\r' ? '\r\n' : '\n';
}

function entriesOf({ to, announced, why }: WrittenExtension): readonly (readonly [string, string])[] {
  return [
    ['to', to],
    ['announced', announced],
    ['why', scalar(why)],
  ];
}

function flowMap(extension: WrittenExtension): string {
  const pairs = entriesOf(extension).map(([key, value]) => `${key}: ${value}`);
  return `{ ${pairs.join(', ')} }`;
}

/** Unquoted if every YAML reader takes it as text. */
function scalar(text: string): string {
  const isPlain = /^\p{L}(?:[\p{L}\p{N} _./()'%+-]*[\p{L}\p{N}.)])?$/u.test(text);
  return isPlain && !/^(?:true|false|null|yes|no|on|off|y|n)$/i.test(text) ? text : JSON.stringify(text);
}

interface WrittenPair {
  readonly key: Node;
  readonly value: Node;
}

function isWritten(pair: Pair<unknown, unknown> | undefined): pair is Pair<unknown, unknown> & WrittenPair {
  return isScalar(pair?.key) && (isScalar(pair.value) || isAlias(pair.value));
}

function pairOf(map: YAMLMap, name: string): Pair<unknown, unknown> | undefined {
  return map.items.find(({ key }) => isScalar(key) && (key.source ?? String(key.value)) === name);
}

function valueUnder(node: unknown, name: string): unknown {
  return isMap(node) ? pairOf(node, name)?.value : undefined;
}

/** Every node of a parsed text has a range. */
function startOf({ range }: Node): number {
  return range?.[0] ?? 0;
}

function endOf({ range }: Node): number {
  return range?.[1] ?? 0;
}
