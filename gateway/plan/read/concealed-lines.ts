// What may not be shown of a file that is not well-formed, line by line: the parser's tree of it may lack the very key.
// Conceals too much rather than too little: the rest of a line, and every line below its key.

type Path = readonly (string | number)[];
type Range = readonly [from: number, to: number];

/** A key with its colon, where a line begins or behind a bracket or a comma. */
const KEY = /(?:^[ \t]*(?:[-?] +)*|[{[,] *)(["']?)([^\s"'{}[\],:#][^"'{}[\],:]*)\1:/g;
const CONFLICT = /^(?:<{7}|={7}|>{7}|\|{7})/;
/** Keys before these change nothing, and one line may hold thousands. */
const DEEPEST = 4;
/** With more colons nothing of the text is shown: each key is compared with many words. */
const MOST_COLONS = 1_500;
const LONGEST = 100_000;

/** Ranges of `text`; `isConcealed`: whether nothing of a value may be shown; `isMap`: whether its keys may be, if it is a map. */
export function concealedLines(
  text: string,
  isConcealed: (path: Path) => boolean,
  isMap: (path: Path) => boolean,
): readonly Range[] {
  if (text.split(':', MOST_COLONS + 1).length > MOST_COLONS || text.length > LONGEST)
    return [[0, text.length]];
  const ranges: Range[] = [];
  let above: readonly { readonly indent: number; readonly path: Path }[] = [];
  let start = 0;
  for (const line of text.split('\n')) {
    const from = start;
    start += line.length + 1;
    const indent = line.search(/\S/);
    if (indent < 0 || CONFLICT.test(line)) continue;
    const keys = [...line.matchAll(KEY)];
    // Any other line goes on with the value above; the items of a list may begin in the column of its key.
    const hasKey = keys[0]?.index === 0;
    const isItem = line[indent] === '-';
    if (hasKey) above = above.filter((key) => key.indent < indent || (isItem && key.indent === indent));
    let path = above.at(-1)?.path ?? [];
    if (isConcealed(path) && !(hasKey && isMap(path))) {
      ranges.push([from + indent, from + line.length]);
      continue;
    }
    for (const [index, key] of keys.entries()) {
      const name = (key[2] ?? '').trim();
      path = [...path, name].slice(-DEEPEST);
      const value = from + key.index + key[0].length;
      // Behind a comma a key belongs to any of those before it.
      const isLast = !isMap(path) && (isConcealed(path) || (index > 0 && isConcealed([name])));
      const next = isLast ? undefined : keys[index + 1];
      const to = next === undefined ? from + line.length : from + next.index;
      const blanks = text.slice(value, to).search(/[^ \t]/);
      if ((isLast || isConcealed(path)) && blanks >= 0) ranges.push([value + blanks, to]);
      if (isLast) break;
    }
    if (keys.length > 0) above = [...above, { indent, path }];
  }
  return ranges;
}
