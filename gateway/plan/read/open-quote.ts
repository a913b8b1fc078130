// The quote that was never closed, or only by the one of another value lines below: the parser complains where it ends.
// Asked by yaml-text.ts once there is an error.
import { Lexer, type LineCounter } from 'yaml';
import type { SyntaxProblem } from './syntax-advice.ts';

/** Tokens that stand for no character of the text: a document begins, a scalar follows, brackets ended too early. */
const WITHOUT_TEXT: ReadonlySet<string> = new Set(['\u0002', '\u001f', '\u0018']);
const NOT_CLOSED = /^Missing closing/;

/** `error`: the first one. Undefined unless it follows from a quote that opens above it or on the left of it. */
export function findOpenQuote(
  text: string,
  error: { readonly at: number; readonly message: string },
  lines: LineCounter,
): SyntaxProblem | undefined {
  const lineOf = (offset: number) => lines.linePos(offset).line;
  const isOpen = NOT_CLOSED.test(error.message);
  let from = 0;
  for (const token of new Lexer().lex(text)) {
    if (WITHOUT_TEXT.has(token)) continue;
    const to = from + token.length;
    const [quote = ''] = /^["']/.exec(token) ?? [];
    const ends = lineOf(to);
    const guilty = isOpen ? error.at < to + 1 : token.includes('\n') && ends === lineOf(error.at);
    if (quote !== '' && guilty) {
      const message = isOpen ? 'this quote is never closed' : `this quote is closed only in line ${ends}`;
      const [line = ''] = token.split('\n', 1);
      return { from, to: from + line.length, message, hint: `write ${quote} where the value ends` };
    }
    if (from > error.at) return undefined;
    from = to;
  }
  return undefined;
}
