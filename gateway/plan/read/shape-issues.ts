// What the schema builder reports, turned into sentences for operators.
// Unions are narrowed to the branch the operator meant.
import { closest, distance } from 'fastest-levenshtein';
import type { z } from 'zod';
import type { Problem } from '../problems.ts';
import type { Path, SourceDocument } from './document.ts';
import { valueAt } from './values.ts';

type Issue = z.core.$ZodIssue;

/** What a kind of file adds to the messages. */
export interface Advice {
  /** Message for a key that is missing, by its path joined with dots. */
  readonly missing?: Readonly<Record<string, string>>;
  /** Top-level keys that belong in the other kind of file, and what that file is called. */
  readonly elsewhere: { readonly keys: readonly string[]; readonly file: string };
}

export interface ShapeIssue {
  readonly path: (string | number)[];
  readonly message: string;
  readonly rule: string;
  /** Keys that are not in the grammar, and those that are. */
  readonly unknown: readonly string[];
  readonly known: readonly string[];
  /** Text would have been right here. */
  readonly wantsText: boolean;
}

/** Error map for parsing: an unknown-key issue carries the keys the map may have as its message. */
export const knownKeys = (issue: z.core.$ZodRawIssue): string | undefined => {
  if (issue.code !== 'unrecognized_keys') return undefined;
  const definition: unknown = issue.inst?._zod.def;
  const shape =
    typeof definition === 'object' && definition !== null ? Reflect.get(definition, 'shape') : undefined;
  return Object.keys(shape ?? {}).join(' ');
};

/** Issues with whole paths, unions replaced by what is wrong in the branch that fits best. */
export function flattenIssues(
  issues: readonly Issue[],
  root: unknown,
  base: Path = [],
): readonly ShapeIssue[] {
  return issues.flatMap((issue): readonly ShapeIssue[] => {
    const path = [...base, ...issue.path.map((key) => (typeof key === 'number' ? key : String(key)))];
    const given = valueAt(root, issue.path);
    const plain = { path, rule: 'shape', unknown: [], known: [], wantsText: false };
    if (given === undefined && issue.code !== 'unrecognized_keys')
      return [{ ...plain, rule: 'missing', message: 'missing' }];
    switch (issue.code) {
      case 'invalid_union': {
        const fitting = issue.errors.filter((branch) => !branch.some((inner) => isWrongKind(inner, given)));
        const [only] = fitting;
        if (only !== undefined && fitting.length === 1) return flattenIssues(only, given, path);
        const expected = issue.errors
          .flatMap((branch) =>
            branch.flatMap((inner) => (inner.path.length > 0 ? [] : (expectation(inner) ?? []))),
          )
          .join(' or ');
        const wantsText =
          typeof given !== 'object' &&
          issue.errors.some((branch) =>
            branch.some((inner) => inner.path.length === 0 && isTextWanted(inner)),
          );
        return [{ ...plain, wantsText, message: `expected ${expected}` }];
      }
      case 'unrecognized_keys':
        return [
          {
            ...plain,
            rule: 'unknown-key',
            message: '',
            unknown: issue.keys,
            known: issue.message.split(' '),
          },
        ];
      case 'invalid_value':
        return [
          {
            ...plain,
            message: `expected ${expectation(issue)}`,
            known: issue.values.map(String),
            wantsText: isTextWanted(issue),
          },
        ];
      case 'invalid_type':
        return [{ ...plain, message: `expected ${expectation(issue)}`, wantsText: isTextWanted(issue) }];
      case 'too_small':
        return [
          {
            ...plain,
            message:
              issue.origin === 'array'
                ? 'the list is empty'
                : issue.origin === 'string'
                  ? 'the text is empty'
                  : `less than ${issue.minimum}`,
          },
        ];
      case 'too_big':
        return [{ ...plain, message: `more than ${issue.maximum}` }];
      default:
        // A refinement of a map that has unknown keys only repeats what those say.
        return issues.some((other) => other.code === 'unrecognized_keys' && sameAs(other, issue))
          ? []
          : [{ ...plain, rule: 'custom', message: issue.message }];
    }
  });
}

/** What an operator sees of an issue: one problem, or one for each unknown key of a map. */
export function describeIssue(
  issue: ShapeIssue,
  given: unknown,
  document: SourceDocument,
  advice: Advice,
): readonly Problem[] {
  if (issue.unknown.length > 0)
    return issue.unknown.map((key) => describeUnknown(issue, key, document, advice));
  if (issue.rule === 'missing') {
    // Something stands there that no value came of: that has been said where it was read.
    if (document.has(issue.path)) return [];
    const message = advice.missing?.[issue.path.join('.')] ?? `the key "${issue.path.at(-1)}" is missing`;
    return [document.problem(issue.path, { rule: 'missing', message, at: 'key' })];
  }
  if (typeof given === 'object' && given !== null && issue.rule === 'custom') {
    return [document.problem(issue.path, { rule: 'shape', message: issue.message })];
  }
  const shown = document.show(issue.path, given);
  const shownAsIs = typeof given === 'string' && !document.isSecret(issue.path);
  const hint = shownAsIs ? suggest(given, issue.known) : undefined;
  return [document.problem(issue.path, { rule: 'shape', message: `${issue.message}: ${shown}`, hint })];
}

/** `did you mean "x"?` when a known word is close enough. */
export function suggest(word: string, known: readonly string[]): string | undefined {
  if (known.length === 0 || word.length < 3 || word.length > 60) return undefined;
  const nearest = closest(word.toLowerCase(), [...known]);
  const near =
    distance(word.toLowerCase(), nearest) <=
    (nearest.length < 4 ? 1 : Math.max(2, Math.floor(nearest.length / 3)));
  return near ? `did you mean "${nearest}"?` : undefined;
}

function describeUnknown(issue: ShapeIssue, key: string, document: SourceDocument, advice: Advice): Problem {
  const path = [...issue.path, key];
  if (issue.path.length === 0 && advice.elsewhere.keys.includes(key)) {
    const message = `the key "${key}" belongs in ${advice.elsewhere.file}`;
    return document.problem(path, { rule: 'wrong-file', message, at: 'key' });
  }
  const message = `unknown key "${key.length > 60 ? `${key.slice(0, 59)}…` : key}"`;
  return document.problem(path, { rule: 'unknown-key', message, hint: suggest(key, issue.known), at: 'key' });
}

function sameAs(a: Issue, b: Issue): boolean {
  return a.path.join('\u0000') === b.path.join('\u0000');
}

function isWrongKind(issue: Issue, given: unknown): boolean {
  if (issue.path.length > 0) return false;
  return (
    issue.code === 'invalid_type' ||
    (issue.code === 'invalid_value' && (typeof given === 'object' || typeof given !== typeof issue.values[0]))
  );
}

function isTextWanted(issue: Issue): boolean {
  if (issue.code === 'invalid_type') return issue.expected === 'string';
  return issue.code === 'invalid_value' && issue.values.some((value) => typeof value === 'string');
}

function expectation(issue: Issue): string | undefined {
  if (issue.code === 'invalid_value')
    return issue.values
      .map((value) => (typeof value === 'string' ? `"${value}"` : String(value)))
      .join(' or ');
  if (issue.code !== 'invalid_type') return undefined;
  switch (issue.expected) {
    case 'object':
    case 'record':
      return 'a map';
    case 'array':
      return 'a list';
    case 'string':
      return 'text';
    case 'boolean':
      return 'true or false';
    case 'int':
    case 'number':
      return 'a whole number';
    default:
      return issue.expected;
  }
}
