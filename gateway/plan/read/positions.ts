// Offsets in the text of one file as the lines and columns that people are shown, with the line as written.
import type { LineCounter, Node } from 'yaml';
import type { Problem, Severity } from '../problems.ts';
import type { PublishedChange } from '../published/record.ts';

/** What is wrong somewhere, without the place. */
export interface Remark {
  readonly rule: string;
  readonly message: string;
  readonly hint?: string | undefined;
  /** Default: error. */
  readonly severity?: Severity;
  /** Of a finding of the comparison with what was published. */
  readonly change?: PublishedChange;
}

export interface Positions {
  /** `from` and `to` are offsets in UTF-16 code units. */
  readonly problemAt: (from: number, to: number, remark: Remark) => Problem;
  readonly originAt: (offset: number) => {
    readonly file: string;
    readonly line: number;
    readonly column: number;
  };
}

/**
 * `file` as printed; `lines` is what the parser of `text` has counted. `shown`: the text as it may be quoted, of the same
 * length; asked once there is something to be quoted.
 */
export function createPositions(
  file: string,
  text: string,
  lines: LineCounter,
  shown: () => string = () => text,
): Positions {
  let textLines: readonly string[] | undefined;
  let shownText: string | undefined;
  const quotable = () => {
    shownText ??= shown();
    return shownText;
  };
  const originAt = (offset: number) => {
    const { line, col } = lines.linePos(offset);
    return line === 0 ? { file, line: 1, column: 1 } : { file, line, column: col };
  };
  return {
    originAt,
    problemAt: (from, to, { rule, message, hint, severity = 'error', change }) => {
      const { line, column } = originAt(from);
      textLines ??= quotable().split('\n');
      const source = textLines[line - 1]?.replace(/\r$/, '');
      return {
        file,
        line,
        column,
        severity,
        rule,
        message,
        ...(hint !== undefined && { hint }),
        ...(change !== undefined && { change }),
        ...(source !== undefined && {
          source: { text: source, length: Math.min(to - from, source.length - column + 1) },
        }),
      };
    },
  };
}

/** Without the blanks behind it. */
export function rangeOf(node: Node | undefined): [from: number, to: number] {
  return [node?.range?.[0] ?? 0, node?.range?.[1] ?? 0];
}
