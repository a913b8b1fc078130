// Converts the issues of zod to issues with whole paths and one message each.
import { closest, distance } from 'fastest-levenshtein';
import type { z } from 'zod';
import type { Path } from './document.ts';
import { isMap, valueAt } from './values.ts';

type Issue = z.core.$ZodIssue;

export const EMPTY_LIST = 'the list is empty';

export interface ShapeIssue {
  readonly path: (string | number)[];
  readonly message: string;
  readonly rule: string;
  /** Keys that are not in the grammar, and those that are. */
  readonly unknown: readonly string[];
  readonly known: readonly string[];
  readonly wantsText: boolean;
}

/** Error map for parsing: the message of an unknown-key issue lists the allowed keys. */
export const knownKeys = (issue: z.core.$ZodRawIssue): string | undefined => {
  if (issue.code !== 'unrecognized_keys') return undefined;
  const definition: unknown = issue.inst?._zod.def;
  const shape =
    typeof definition === 'object' && definition !== null ? Reflect.get(definition, 'shape') : undefined;
  return Object.keys(shape ?? {}).join(' ');
};

/** Issues with whole paths. The issue of a union is replaced by those of its best fitting branch. */
export function flattenIssues(
  issues: readonly Issue[],
  root: unknown,
  base: Path = [],
): readonly ShapeIssue[] {
  return issues.flatMap((issue): readonly ShapeIssue[] => {
    const path = [...base, ...issue.path.map((key) => (typeof key === 'number' ? key : String(key)))];
    const given = valueAt(root, issue.path);
    const one = (found: Partial<ShapeIssue>): readonly ShapeIssue[] => [
      { path, rule: 'shape', message: '', unknown: [], known: [], wantsText: false, ...found },
    ];
    if (given === undefined && issue.code !== 'unrecognized_keys')
      return one({ rule: 'missing', message: 'missing' });
    switch (issue.code) {
      case 'invalid_union': {
        const fitting = issue.errors.filter((branch) => !branch.some((inner) => isWrongKind(inner, given)));
        const words = issue.errors.flatMap(wordsOf);
        const [only, ...others] = fitting.filter((branch) => wordsOf(branch).length === 0);
        if (only !== undefined && (others.length === 0 || isMap(given))) {
          const meant = others.reduce(
            (best, branch) => (mismatches(branch) < mismatches(best) ? branch : best),
            only,
          );
          return flattenIssues(meant, given, path).map((inner) => besideWords(inner, path, words));
        }
        const whole = issue.errors.flat().filter((inner) => inner.path.length === 0);
        const wantsText = typeof given !== 'object' && whole.some(isTextWanted);
        return one({ wantsText, message: `expected ${oneOf(whole.flatMap(expectations))}`, known: words });
      }
      case 'unrecognized_keys':
        return one({ rule: 'unknown-key', unknown: issue.keys, known: issue.message.split(' ') });
      case 'invalid_value':
      case 'invalid_type': {
        const message = `expected ${oneOf(expectations(issue))}`;
        const known = issue.code === 'invalid_value' ? issue.values.map(String) : [];
        return one({ message, known, wantsText: isTextWanted(issue) });
      }
      case 'too_small': {
        if (issue.origin === 'array') return one({ message: EMPTY_LIST });
        return one({
          message: issue.origin === 'string' ? 'the text is empty' : `less than ${issue.minimum}`,
        });
      }
      case 'too_big': {
        const noun = issue.origin === 'string' ? ' characters' : issue.origin === 'array' ? ' entries' : '';
        return one({ message: `more than ${issue.maximum}${noun}` });
      }
      case 'invalid_key':
        return one({ message: issue.issues[0]?.message ?? 'this key is not allowed' });
      default:
        // A refinement of a map with unknown keys repeats that problem.
        return issues.some((other) => other.code === 'unrecognized_keys' && sameAs(other, issue))
          ? []
          : one({ rule: 'custom', message: issue.message });
    }
  });
}

/** `did you mean "x"?` if a known word is close. */
export function suggest(word: string, known: readonly string[]): string | undefined {
  if (known.length === 0 || word.length < 3 || word.length > 60) return undefined;
  // A prefix of a known word is the best match.
  const begun = known.filter((each) => each.startsWith(word.toLowerCase()));
  const nearest = closest(word.toLowerCase(), begun.length > 0 ? begun : [...known]);
  if (begun.length > 0) return `did you mean "${nearest}"?`;
  // Two dates have most digits in common without being a typo.
  const few = nearest.length < 4 || /^\d{4}-\d\d-\d\d$/.test(nearest);
  const near =
    distance(word.toLowerCase(), nearest) <= (few ? 1 : Math.max(2, Math.floor(nearest.length / 3)));
  return near ? `did you mean "${nearest}"?` : undefined;
}

/** Lists all known words, up to a limit, if none is close. */
export function suggestOrList(word: string, known: readonly string[]): string | undefined {
  const most = 12;
  const all =
    known.length > 0 && known.length <= most
      ? `there ${known.length === 1 ? 'is' : 'are'} ${known.join(', ')}`
      : undefined;
  return suggest(word, known) ?? all;
}

/** The words of a branch that is an enum. */
function wordsOf(branch: readonly Issue[]): readonly string[] {
  const [only, ...others] = branch;
  const isWords = only?.code === 'invalid_value' && only.path.length === 0 && others.length === 0;
  return isWords ? only.values.filter((value) => typeof value === 'string') : [];
}

/** If a whole value is wrong, it may be a misspelt enum word. */
function besideWords(issue: ShapeIssue, path: Path, words: readonly string[]): ShapeIssue {
  const isWhole = issue.path.length === path.length && issue.unknown.length === 0;
  return isWhole ? { ...issue, known: [...issue.known, ...words] } : issue;
}

function sameAs(a: Issue, b: Issue): boolean {
  return a.path.join('\u0000') === b.path.join('\u0000');
}

/** The branch with the fewest unknown keys fits best, then the one with the fewest issues. */
function mismatches(branch: readonly Issue[]): number {
  const unknown = branch.flatMap((issue) => (issue.code === 'unrecognized_keys' ? issue.keys : []));
  return unknown.length * 1_000 + branch.length;
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

/** `a, b or c` without repetition: several kinds of map are listed once. */
function oneOf(expected: readonly string[]): string {
  const [last = '', ...before] = [...new Set(expected)].reverse();
  return before.length === 0 ? last : `${before.reverse().join(', ')} or ${last}`;
}

function expectations(issue: Issue): readonly string[] {
  if (issue.code === 'invalid_value')
    return issue.values.map((value) => (typeof value === 'string' ? `"${value}"` : String(value)));
  if (issue.code !== 'invalid_type') return [];
  switch (issue.expected) {
    case 'object':
    case 'record':
      return ['a map'];
    case 'array':
      return ['a list'];
    case 'string':
      return ['text'];
    case 'boolean':
      return ['true or false'];
    case 'int':
    case 'number':
      return ['a whole number'];
    default:
      return [issue.expected];
  }
}
