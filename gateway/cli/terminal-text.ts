// Makes foreign text safe for a terminal: no cursor movement, no change of direction, no line break.
import { dateInWords, parseInstant } from '../policy/notation.ts';

/** Control, format, unassigned and lone surrogate characters, and line separators. */
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/gu;
/** Combining marks take no column. Many of them cover the lines around. */
const MARKS = /\p{M}/gu;
/** Terminals give these characters two columns. */
const WIDE =
  /[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\p{Emoji_Presentation}\uff01-\uff60]/gu;
/** Limit of code units for one column, marks included. */
const UNITS_PER_COLUMN = 8;

/** At most `columns` characters, with an ellipsis if the text is cut. */
export function cell(text: string, columns: number): string {
  const near = text.slice(0, columns * UNITS_PER_COLUMN);
  const characters = [...near.replace(UNPRINTABLE, '?').replace(MARKS, '')];
  const isWhole = near.length === text.length && characters.length <= columns;
  return isWhole ? characters.join('') : `${characters.slice(0, columns - 1).join('')}…`;
}

export function printable(line: string): string {
  return line.replace(UNPRINTABLE, '?');
}

export interface Column {
  readonly heading: string;
  readonly align?: 'right';
}

/** Columns are two spaces apart. Cells must be cut already. */
export function tableLines(columns: readonly Column[], rows: readonly (readonly string[])[]): string[] {
  const all = [columns.map(({ heading }) => heading), ...rows];
  const widths = columns.map((_, index) => Math.max(...all.map((row) => widthOf(row[index] ?? ''))));
  return all.map((row) =>
    columns
      .map(({ align }, index) => {
        const text = row[index] ?? '';
        const space = ' '.repeat((widths[index] ?? 0) - widthOf(text));
        return align === 'right' ? space + text : text + space;
      })
      .join('  ')
      .trimEnd(),
  );
}

function widthOf(text: string): number {
  return [...text].length + (text.match(WIDE)?.length ?? 0);
}

/** Without fractions of a second. */
export function moment(instant: string): string {
  const at = parseInstant(instant.replace(/\.\d+(?=Z$)/, ''));
  return at === undefined ? instant : dateInWords(at);
}

export function onTerminal(lines: readonly string[]): string {
  return lines.map((line) => `${line.replace(/\p{C}/gu, '?')}\n`).join('');
}
