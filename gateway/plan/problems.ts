// Findings in the documents with their positions, and how they are printed.

import { isRuleName, type RuleSeverity } from '../sections/rules/grammar.ts';
import type { PublishedChange } from './published/record.ts';

export type Severity = RuleSeverity;

export interface Problem {
  /** Relative to the working directory, as printed. */
  readonly file: string;
  readonly line: number;
  /** From 1, in UTF-16 code units. */
  readonly column: number;
  readonly severity: Severity;
  /** Stable rule id, for machines. */
  readonly rule: string;
  readonly message: string;
  readonly hint?: string;
  /** The change of the published schedule, which an operator can accept with `sundial accept`. */
  readonly change?: PublishedChange;
  /** The source line, and the length of the marked part. */
  readonly source?: { readonly text: string; readonly length: number };
}

const LIVE = /^live-/;
const MAX_TEXT = 18_000;
const MAX_FILES = 3;
const LONGEST_LINE = 160;
const PLAIN = { error: '', warning: '', dim: '', off: '' };
const COLOURED = { error: '\u001b[1;31m', warning: '\u001b[1;33m', dim: '\u001b[2m', off: '\u001b[0m' };

export function hasErrors(problems: readonly Problem[]): boolean {
  return problems.some(isError);
}

/** By file and position. Removes duplicates at one position. */
export function sortProblems(problems: readonly Problem[]): readonly Problem[] {
  const seen = new Map<string, Problem>();
  for (const problem of problems) {
    const key = [problem.file, problem.line, problem.column, problem.message].join('\n');
    if (!seen.has(key)) seen.set(key, problem);
  }
  const errors = new Set([...seen.values()].filter(isError).map(placeOf));
  // An error at the same position already names the number that should be text.
  const kept = [...seen.values()].filter(
    (problem) => problem.rule !== 'quote' || !errors.has(placeOf(problem)),
  );
  return kept.sort((a, b) =>
    a.file < b.file ? -1 : a.file > b.file ? 1 : a.line - b.line || a.column - b.column,
  );
}

/** For terminals: control characters are replaced. Above 20 KB, errors come first and the rest is counted. */
export function renderProblems(problems: readonly Problem[], options: { readonly colour: boolean }): string {
  const style = options.colour ? COLOURED : PLAIN;
  const whole = blocksOf(problems, style);
  if (whole.length === problems.length) return whole.join('');
  const errors = problems.filter(isError);
  const blocks = blocksOf([...errors, ...problems.filter((each) => !isError(each))], style);
  const left = problems.length - blocks.length;
  return `${blocks.join('')}… and ${blocks.length < errors.length ? `${left} more` : plural(left, 'more warning')}\n`;
}

function blocksOf(problems: readonly Problem[], style: typeof PLAIN): readonly string[] {
  const blocks: string[] = [];
  let length = 0;
  for (const problem of problems) {
    const block = renderProblem(problem, style);
    length += block.length;
    if (length > MAX_TEXT) break;
    blocks.push(block);
  }
  return blocks;
}

/** `file:line:col: error: text (hint)` in one line. */
export function headline(problem: Problem): string {
  const { severity, message, hint } = problem;
  const text = `${placeOf(problem)}: ${severity}: ${message}${hint === undefined ? '' : ` (${hint})`}`;
  return printable(text, 400);
}

export function countProblems(problems: readonly Problem[]): string {
  const errors = problems.filter(isError).length;
  const warnings = problems.length - errors;
  const parts = [plural(errors, 'error'), plural(warnings, 'warning')];
  return parts.filter((part) => !part.startsWith('0 ')).join(', ');
}

export function notStarted(problems: readonly Problem[]): string {
  const errors = problems.filter(isError);
  const files = [...new Set(errors.map(({ file }) => file))];
  const named = files.length > MAX_FILES ? plural(files.length, 'file') : files.join(', ');
  return printable(`not started: ${countProblems(errors)} in ${named}`, 400);
}

export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

function isError(problem: Problem): boolean {
  return problem.severity === 'error';
}

function placeOf({ file, line, column }: Problem): string {
  return `${file}:${line}:${column}`;
}

function renderProblem(problem: Problem, style: typeof PLAIN): string {
  const { severity, source, hint } = problem;
  // The rule id can be written under `rules:`, or names a test of `check --live`.
  const name = isRuleName(problem.rule) || LIVE.test(problem.rule) ? ` [${problem.rule}]` : '';
  const head = `${placeOf(problem)}: ${style[severity]}${severity}${style.off}: ${printable(problem.message, 400)}${name}\n`;
  if (source === undefined) return hint === undefined ? head : `${head}       | ${printable(hint, 200)}\n`;
  // Long lines are also cut on the left, so that the carets stay below the marked part.
  const cut = problem.column > LONGEST_LINE - 40 ? problem.column - 40 : 0;
  const line = printable(maskPasswords(source.text).slice(cut).trimEnd(), LONGEST_LINE);
  const start = problem.column - 1 - cut;
  const carets = '^'.repeat(Math.max(1, Math.min(source.length, line.length - start)));
  const frame = `${style.dim}${String(problem.line).padStart(6)} | ${style.off}${line}\n`;
  const marks = `${style.dim}       | ${style.off}${' '.repeat(start)}${style[severity]}${carets}${style.off}`;
  return `${head}${frame}${marks}${hint === undefined ? '' : ` ${printable(hint, 200)}`}\n`;
}

/** Keeps the length, so that positions stay valid: `token: x` becomes `token: *`. */
export function maskPasswords(text: string): string {
  // Matches whole words: a pattern that restarts at every character takes hours for 1 MB.
  return text
    .replace(/[^\s"']+/g, maskUserInfo)
    .replace(
      /(\b(?:token|secret)["']?:[ \t]*)(?!["']?\$\{)("[^"]*|'[^']*|[^\s"',{}][^,{}\n]*)/g,
      (_whole, key: string, value: string) => key + value.replace(/(?<=.)./g, '*').replace(/^[^"']/, '*'),
    );
}

/** From the first `://` of a word, even with a misspelt scheme, to its last `@`; also credentials in a query. */
function maskUserInfo(word: string): string {
  const to = word.lastIndexOf('@');
  const scheme = word.search(/:\/\/[^/]/);
  const from = scheme < 0 ? word.indexOf('//') + (word.includes('//') ? 2 : 1) : scheme + 3;
  const isLogin = from < to && (scheme >= 0 || word.slice(from, to).includes(':'));
  const masked = isLogin ? word.slice(0, from) + '*'.repeat(to - from) + word.slice(to) : word;
  return masked.replace(
    CREDENTIAL_IN_QUERY,
    (_whole, name: string, value: string) => name + '*'.repeat(value.length),
  );
}

/** Groups: the name with its `=`, the value. */
export const CREDENTIAL_IN_QUERY =
  /([?&][^=&]{0,40}(?:token|key|secret|pass|sig|auth|session)[^=&]{0,40}=)([^&]+)/gi;

function printable(text: string, most: number): string {
  const safe = text.replace(/\t/g, ' ').replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '?');
  return safe.length > most ? `${safe.slice(0, most - 1)}…` : safe;
}
