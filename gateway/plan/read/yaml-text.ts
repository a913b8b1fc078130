// Parses the text of a file to a YAML tree, or to syntax problems.
import { type Document, Lexer, LineCounter, parseAllDocuments } from 'yaml';
import { syntaxWords } from './yaml-words.ts';

const MAX_TOKENS = 60_000;
/** Upper bound: a scalar of one character is two tokens, an empty one (`a:`) is none. */
const MAX_TOKENS_PER_CHARACTER = 4;

/** A brace in an unquoted scalar, as in `${env:NAME}` or `/api/{version}/orders`. */
const BRACE_IN_TEXT = /\$\{|(?<=[^\s{}[\],:"'])\{/g;

/** Wrong indentation. Errors of the parser in later lines follow from it. */
const MISPLACED =
  /^Tabs are not allowed|must start at the same column$|must be sufficiently indented|in YAML stream:/;

export interface YamlText {
  readonly tree: Document | undefined;
  /** All parsed documents, also with errors. Use them for positions only. */
  readonly drafts: readonly Document[];
  readonly lines: LineCounter;
  readonly problems: readonly SyntaxProblem[];
}

/** Control tokens of the lexer without text: document start, scalar start, flow end by error. */
const CONTROL_TOKENS: ReadonlySet<string> = new Set(['\u0002', '\u001f', '\u0018']);
const NOT_CLOSED = /^Missing closing/;

/**
 * YAML 1.2 core schema: dates, `on` and `yes` stay text. Refuses bytes that are not UTF-8: decoding them would change
 * names and values silently.
 */
export function readYaml(
  text: string,
  { isUtf8, mostTokens = MAX_TOKENS }: { readonly isUtf8: boolean; readonly mostTokens?: number },
): YamlText {
  const lines = new LineCounter();
  const drafts: Document[] = [];
  const refused = (...problems: SyntaxProblem[]): YamlText => ({ tree: undefined, drafts, lines, problems });
  if (!isUtf8) {
    const from = text.indexOf('\ufffd');
    for (let start = 0; start <= from; start = text.indexOf('\n', start) + 1 || text.length)
      lines.addNewLine(start);
    return refused({ from, to: from + 1, message: 'not UTF-8 text', hint: encodingAdvice(text) });
  }
  if (hasMoreTokens(text, mostTokens)) {
    const most = mostTokens.toLocaleString('en');
    return refused({ from: 0, to: 0, message: `too much in one file: more than ${most} tokens` });
  }
  // The document reader finds duplicate keys: the check of the parser is quadratic.
  const parsed = parseAllDocuments(text, { lineCounter: lines, uniqueKeys: false, prettyErrors: false });
  const documents = Array.isArray(parsed) ? parsed : [];
  drafts.push(...documents);
  const errors = documents.flatMap((document) => [...document.errors, ...document.warnings]);
  const first = errors[0];
  if (first !== undefined) {
    const unquoted = findUnquotedBrace(text, first.pos[0]);
    if (unquoted !== undefined) return refused(unquoted);
    const open = findOpenQuote(text, { at: first.pos[0], message: first.message }, lines);
    if (open !== undefined) return refused(open);
    // Later errors in a line mostly follow from the first.
    const firsts = errors.filter((error, index) => {
      const { line } = lines.linePos(error.pos[0]);
      return errors.findIndex((other) => lines.linePos(other.pos[0]).line === line) === index;
    });
    const misplaced = firsts.findIndex(({ message }) => MISPLACED.test(message));
    const reported = firsts.slice(0, misplaced < 0 ? 5 : Math.min(misplaced + 1, 5));
    return refused(
      ...reported.map(({ pos: [from, to], message }) => ({ from, to, ...syntaxWords(message) })),
    );
  }
  const second = documents[1];
  if (second !== undefined) {
    const from = second.range[0];
    return refused({ from, to: from + 3, message: 'a second document begins here; write one per file' });
  }
  return { tree: documents[0], drafts, lines, problems: [] };
}

function encodingAdvice(text: string): string {
  if (text.startsWith('\ufffd\ufffd')) return 'it looks like UTF-16: save it as UTF-8';
  return text.includes('\0') ? 'this is not a text file: name another' : 'save the file as UTF-8';
}

/** Counting costs a third of parsing, so short texts are not counted. */
function hasMoreTokens(text: string, most: number): boolean {
  if (text.length * MAX_TOKENS_PER_CHARACTER < most) return false;
  let tokens = 0;
  for (const _token of new Lexer().lex(text)) {
    tokens += 1;
    if (tokens > most) return true;
  }
  return false;
}

/** One message instead of the many syntax errors of an unquoted brace. */
function findUnquotedBrace(text: string, firstError: number): SyntaxProblem | undefined {
  const lineStart = text.lastIndexOf('\n', firstError - 1) + 1;
  const upToError = [...text.slice(lineStart, firstError + 2).matchAll(BRACE_IN_TEXT)];
  const brace = upToError.findLast(({ index }) => lineStart + index <= firstError);
  if (brace === undefined) return undefined;
  const from = lineStart + brace.index;
  const quotes = text.slice(lineStart, from).match(/["']/g)?.length ?? 0;
  if (quotes % 2 === 1) return undefined;
  const to = text.indexOf('}', from) + 1 || from + 2;
  const written = text.slice(from, to).split('\n', 1)[0] ?? '';
  const dollar = brace[0] === '{' ? '' : '$';
  return {
    from,
    to: from + written.length,
    message: `an unquoted ${dollar}{…} is not allowed inside { } or [ ]`,
    hint: `quote the whole value: "…${dollar}{${dollar === '' ? 'version' : 'env:NAME'}}…"`,
  };
}

/** Finds the unclosed quote that causes a parser error, often many lines before it. `error`: the first error. */
function findOpenQuote(
  text: string,
  error: { readonly at: number; readonly message: string },
  lines: LineCounter,
): SyntaxProblem | undefined {
  const lineOf = (offset: number) => lines.linePos(offset).line;
  const isOpen = NOT_CLOSED.test(error.message);
  let from = 0;
  for (const token of new Lexer().lex(text)) {
    if (CONTROL_TOKENS.has(token)) continue;
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

interface SyntaxProblem {
  readonly from: number;
  readonly to: number;
  readonly message: string;
  readonly hint?: string;
}
