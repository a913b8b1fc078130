// Converts issues of the shape to problems with positions, messages and hints.
import { maskPasswords, type Problem } from '../problems.ts';
import { shownKey } from './concealed.ts';
import type { Path, SourceDocument } from './document.ts';
import { asYaml, nearEmpty, nearShape, nearWord, whyNotMeant } from './near-shapes.ts';
import { nearValue } from './near-values.ts';
import { EMPTY_LIST, type ShapeIssue, suggest, suggestOrList } from './shape-issues.ts';
import { valueAt } from './values.ts';

export interface Advice {
  /** Message for a missing key, by its path joined with dots. */
  readonly missing?: Readonly<Record<string, string>>;
  /** Top-level keys of the other kind of file, and the name of that file. */
  readonly elsewhere: { readonly keys: readonly string[]; readonly file: string };
  /** Hint for an unknown key in the map at `path` that belongs elsewhere in the file. */
  readonly placeOfKey?: (path: Path, key: string) => string | undefined;
}

/** One problem, or one per unknown key of a map. */
export function describeIssue(
  issue: ShapeIssue,
  given: unknown,
  document: SourceDocument,
  advice: Advice,
): readonly Problem[] {
  if (issue.unknown.length > 0)
    return issue.unknown.map((key) => describeUnknown(issue, key, document, advice));
  if (issue.rule === 'missing') {
    // The key is present, but its value could not be read. That has a problem of its own.
    if (document.has(issue.path)) return [];
    const message = advice.missing?.[issue.path.join('.')] ?? `the key "${issue.path.at(-1)}" is missing`;
    return [document.problem(issue.path, { rule: 'missing', message, at: 'key' })];
  }
  if (given === null && document.written(issue.path)?.trim() === '') {
    const last = issue.path.at(-1);
    const where = typeof last === 'number' ? 'in this entry' : `behind "${last}"`;
    const message = `nothing is written ${where}: give it a value, or take it out`;
    const hint = typeof last === 'number' ? undefined : EMPTY_VALUE_HINT;
    return [document.problem(issue.path, { rule: 'shape', message, hint, at: 'key' })];
  }
  if (typeof given === 'object' && given !== null && issue.rule === 'custom') {
    return [document.problem(issue.path, { rule: 'shape', message: issue.message })];
  }
  const written = valueAt(document.value, issue.path);
  // A number is shown without quotes, even if it was also tried as text.
  const isScalar = typeof written === 'number' || typeof written === 'boolean';
  const shown = document.show(issue.path, isScalar ? written : given);
  const shownAsIs = typeof given === 'string' && document.isQuotable(issue.path);
  const meant = shownAsIs ? (whyNotMeant(issue.path, given) ?? suggest(given, issue.known)) : undefined;
  const hint =
    meant ??
    rightValue(issue, given, document) ??
    (wantsList(issue, given) ? `write a list of one entry: ${listed(given, shownAsIs)}` : undefined);
  return [document.problem(issue.path, { rule: 'shape', message: withGiven(issue.message, shown), hint })];
}

function withGiven(message: string, shown: string): string {
  if (message === EMPTY_LIST) return message;
  return /^(?:a list|a map|nothing)$/.test(shown) && message.startsWith('expected ')
    ? `${message}, not ${shown}`
    : `${message}: ${shown}`;
}

/** A hint at the right value. It quotes nothing that is secret or was substituted. */
function rightValue(issue: ShapeIssue, given: unknown, document: SourceDocument): string | undefined {
  const { path, message } = issue;
  const isQuotable =
    document.isQuotable(path) &&
    !(Array.isArray(given) && given.some((_, index) => document.isHidden([...path, index])));
  if (!isQuotable) return nearValue(issue, '');
  const shape = message.startsWith('expected ')
    ? nearShape(path, given)
    : message === EMPTY_LIST
      ? nearEmpty(path)
      : undefined;
  const near = shape ?? nearWord(message, given) ?? nearValue(issue, typeof given === 'string' ? given : '');
  return near && maskPasswords(near);
}

/** If enum words are allowed too, the value is more likely a misspelt word than a list. */
function wantsList({ message }: ShapeIssue, given: unknown): boolean {
  return message === 'expected a list' || (typeof given === 'object' && message.endsWith(' or a list'));
}

/** Two ways to lose a value in YAML: wrong indentation, and a # without quotes. */
const EMPTY_VALUE_HINT =
  'what belongs to it stands farther right than it does; a value that begins with # is written in quotes';

const MERGE_KEY_HINT = 'merge keys are not read: write its keys out, or let an alias stand for the whole map';

function listed(given: unknown, shownAsIs: boolean): string {
  return shownAsIs && typeof given === 'string' && given.length <= 60
    ? `[${maskPasswords(asYaml(given))}]`
    : '[ … ]';
}

/** Names non-ASCII characters, which may look like the right letters. */
function lookAlikes(key: string): string {
  const others = [...new Set(key.match(/\P{ASCII}/gu))].slice(0, 3);
  const points = others.map(
    (each) => `U+${(each.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`,
  );
  return points.length === 0 ? '' : ` with ${points.join(', ')}, which is not ASCII`;
}

function describeUnknown(issue: ShapeIssue, key: string, document: SourceDocument, advice: Advice): Problem {
  const path = [...issue.path, key];
  if (issue.path.length === 0 && advice.elsewhere.keys.includes(key)) {
    const message = `the key "${key}" belongs in ${advice.elsewhere.file}`;
    return document.problem(path, { rule: 'wrong-file', message, at: 'key' });
  }
  const message = `unknown key "${shownKey(key)}"${lookAlikes(key)}`;
  const hint =
    key === '<<' ? MERGE_KEY_HINT : (advice.placeOfKey?.(issue.path, key) ?? suggestOrList(key, issue.known));
  return document.problem(path, { rule: 'unknown-key', message, hint, at: 'key' });
}
