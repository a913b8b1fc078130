// Two texts as a unified diff, for a change that stands in one place.
// What `sundial extend` shows of the line it writes.

const CONTEXT = 3;

/** One hunk from the first differing line to the last; empty for equal texts. Line ends are not shown. */
export function unifiedDiff(file: string, before: string, after: string): string {
  if (before === after) return '';
  const [a, b] = [linesOf(before), linesOf(after)];
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head += 1;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a.at(-1 - tail) === b.at(-1 - tail)) tail += 1;
  const start = Math.max(0, head - CONTEXT);
  const kept = Math.min(CONTEXT, tail);
  const range = (lines: readonly string[]) => `${start + 1},${lines.length - tail + kept - start}`;
  return [
    `--- ${file}`,
    `+++ ${file}`,
    `@@ -${range(a)} +${range(b)} @@`,
    ...a.slice(start, head).map((line) => ` ${line}`),
    ...a.slice(head, a.length - tail).map((line) => `-${line}`),
    ...b.slice(head, b.length - tail).map((line) => `+${line}`),
    ...a.slice(a.length - tail, a.length - tail + kept).map((line) => ` ${line}`),
    '',
  ].join('\n');
}

/** A line end that is missing at the end of the file is told by a mark, as `diff` does. */
function linesOf(text: string): readonly string[] {
  const lines = text.split(/\r?\n/);
  const last = lines.pop() ?? '';
  return last === '' ? lines : [...lines, `${last}\n\\ No newline at end of file`];
}
