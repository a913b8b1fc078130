// Offsets in the text of one file as the lines and columns that people are shown, with the line as written.
// Shared by everything that reads a file of the operator's: policies, the gateway file, descriptions.
import type { LineCounter } from 'yaml';
import type { Problem, Severity } from '../problems.ts';

/** What is wrong somewhere, without the place. */
export interface Remark {
  readonly rule: string;
  readonly message: string;
  readonly hint?: string | undefined;
  /** Default: error. */
  readonly severity?: Severity;
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
  const originAt = (offset: number) => {
    const { line, col } = lines.linePos(offset);
    return line === 0 ? { file, line: 1, column: 1 } : { file, line, column: col };
  };
  return {
    originAt,
    problemAt: (from, to, { rule, message, hint, severity = 'error' }) => {
      const { line, column } = originAt(from);
      textLines ??= shown().split('\n');
      const source = textLines[line - 1]?.replace(/\r$/, '');
      return {
        file,
        line,
        column,
        severity,
        rule,
        message,
        ...(hint !== undefined && { hint }),
        ...(source !== undefined && {
          source: { text: source, length: Math.min(to - from, source.length - column + 1) },
        }),
      };
    },
  };
}
