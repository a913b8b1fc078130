// Converts offsets of a file to lines and columns, with the source line.
import type { LineCounter, Node } from 'yaml';
import type { Problem, Severity } from '../problems.ts';
import type { PublishedChange } from '../published/record.ts';

/** A finding without its position. */
export interface UnplacedFinding {
  readonly rule: string;
  readonly message: string;
  readonly hint?: string | undefined;
  /** Default: error. */
  readonly severity?: Severity;
  /** Only for findings about published dates. */
  readonly change?: PublishedChange;
}

export interface Positions {
  /** Offsets are UTF-16 code units. */
  readonly problemAt: (from: number, to: number, remark: UnplacedFinding) => Problem;
  readonly originAt: (offset: number) => {
    readonly file: string;
    readonly line: number;
    readonly column: number;
  };
}

/** `shown` returns the quotable text of the same length. It is called at the first problem. */
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

/** Without trailing blanks. */
export function rangeOf(node: Node | undefined): [from: number, to: number] {
  return [node?.range?.[0] ?? 0, node?.range?.[1] ?? 0];
}
