// Text of one file to a YAML tree, or to what is wrong with its syntax. First step from document to plan.
import { type Document, Lexer, LineCounter, parseAllDocuments } from 'yaml';
import { syntaxWords } from './yaml-words.ts';

const MOST_TOKENS = 60_000;
/** A scalar of one character is two tokens, one of none (`a:`) is none; with some to spare. */
const MOST_TOKENS_PER_CHARACTER = 4;

/** Where a plain scalar goes on with a brace, as in `${env:NAME}` or `/api/{version}/orders`. */
const BRACE_IN_TEXT = /\$\{|(?<=[^\s{}[\],:"'])\{/g;

/** A line that begins elsewhere than it should: what the parser says of the lines behind it is the echo of that. */
const MISPLACED =
  /^Tabs are not allowed|must start at the same column$|must be sufficiently indented|in YAML stream:/;

export interface YamlText {
  readonly tree: Document | undefined;
  /** All that the parser made of the text, where it went wrong too: for what needs no more than places. */
  readonly drafts: readonly Document[];
  readonly lines: LineCounter;
  readonly problems: readonly SyntaxProblem[];
}

/** Tokens that stand for no character of the text: a document begins, a scalar follows, brackets ended too early. */
const WITHOUT_TEXT: ReadonlySet<string> = new Set(['\u0002', '\u001f', '\u0018']);
const NOT_CLOSED = /^Missing closing/;

/**
 * `text` as YAML 1.2 core: dates, `on`, `yes` stay text. No tree when there is any problem. Bytes that were not UTF-8
 * have become U+FFFD in `text`, and would change names and values without a word.
 */
export function readYaml(
  text: string,
  { isUtf8, mostTokens = MOST_TOKENS }: { readonly isUtf8: boolean; readonly mostTokens?: number },
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
  // Duplicate keys are found by the document reader: the parser's own check is quadratic.
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
    // What follows on the same line is mostly the echo of its first error.
    const firsts = errors.filter((error, index) => {
      const { line } = lines.linePos(error.pos[0]);
      return errors.findIndex((other) => lines.linePos(other.pos[0]).line === line) === index;
    });
    const misplaced = firsts.findIndex(({ message }) => MISPLACED.test(message));
    const told = firsts.slice(0, misplaced < 0 ? 5 : Math.min(misplaced + 1, 5));
    return refused(...told.map(({ pos: [from, to], message }) => ({ from, to, ...syntaxWords(message) })));
  }
  const second = documents[1];
  if (second !== undefined) {
    const from = second.range[0];
    return refused({ from, to: from + 3, message: 'a second document begins here; write one per file' });
  }
  return { tree: documents[0], drafts, lines, problems: [] };
}

/** `text`: what came of bytes that are no UTF-8. */
function encodingAdvice(text: string): string {
  if (text.startsWith('\ufffd\ufffd')) return 'it looks like UTF-16: save it as UTF-8';
  return text.includes('\0') ? 'this is no text file: name another' : 'save the file as UTF-8';
}

/** A short text cannot have that many, and counting costs as much as a third of parsing. */
function hasMoreTokens(text: string, most: number): boolean {
  if (text.length * MOST_TOKENS_PER_CHARACTER < most) return false;
  let tokens = 0;
  for (const _token of new Lexer().lex(text)) {
    tokens += 1;
    if (tokens > most) return true;
  }
  return false;
}

/** An unquoted brace inside braces or brackets makes many syntax errors; it deserves one that says what to do. */
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
    message: `an unquoted ${dollar}{…} cannot stand inside { } or [ ]`,
    hint: `quote the whole value: "…${dollar}{${dollar === '' ? 'version' : 'env:NAME'}}…"`,
  };
}

/**
 * The quote that the parser misses far below it. `error`: the first one. Undefined unless it follows from a quote that
 * opens above it or on the left of it.
 */
function findOpenQuote(
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

/** A syntax problem; offsets are positions in the text. */
interface SyntaxProblem {
  readonly from: number;
  readonly to: number;
  readonly message: string;
  readonly hint?: string;
}
