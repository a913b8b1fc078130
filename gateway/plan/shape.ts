// One document against a grammar: every shape problem with its position, and what is well formed.
// The grammar's refinements are skipped where the shape fails, so cross checks run apart, on the parts left here.
import type { z } from 'zod';
import type { Path, SourceDocument } from './document.ts';
import type { Problem } from './problems.ts';
import { type Advice, describeIssue, flattenIssues, knownKeys } from './shape-issues.ts';

export interface Shaped<Whole, Parts> {
  readonly problems: readonly Problem[];
  /** The whole file, when nothing is wrong with its shape. */
  readonly whole: Whole | undefined;
  /** What is well formed of it. */
  readonly parts: Parts;
}

export function checkShape<Whole, Parts>(
  document: SourceDocument,
  grammar: z.ZodType<Whole>,
  partsGrammar: z.ZodType<Parts>,
  advice: Advice,
): Shaped<Whole, Parts> {
  const problems: Problem[] = [];
  const value = structuredClone(document.value);
  const parse = (schema: z.ZodType<Whole> | z.ZodType<Parts>) =>
    schema.safeParse(value, { error: knownKeys });

  for (const issue of flattenIssues(parse(grammar).error?.issues ?? [], value)) {
    // A bare 1.10 where text is needed: what was written is what was meant.
    const given = valueAt(value, issue.path);
    const written = document.written(issue.path);
    if (
      !issue.wantsText ||
      written === undefined ||
      (typeof given !== 'number' && typeof given !== 'boolean')
    )
      continue;
    setAt(value, issue.path, written);
    const message = `${written} is read as a ${typeof given}: write it in quotes`;
    problems.push(document.problem(issue.path, { rule: 'quote', severity: 'warning', message }));
  }

  const strict = parse(grammar);
  for (const issue of flattenIssues(strict.error?.issues ?? [], value)) {
    problems.push(...describeIssue(issue, valueAt(value, issue.path), document, advice));
  }
  if (strict.success) return { problems, whole: strict.data as Whole, parts: prune(parse(partsGrammar)) };
  return { problems, whole: undefined, parts: prune(parse(partsGrammar)) };

  /** Takes malformed values out until the rest is well formed; ends, as each turn removes something. */
  function prune(result: ReturnType<typeof parse>): Parts {
    let current = result;
    while (!current.success) {
      for (const issue of flattenIssues(current.error.issues, value)) {
        if (issue.unknown.length > 0) for (const key of issue.unknown) removeAt(value, [...issue.path, key]);
        else if (issue.path.length === 0) return {} as Parts;
        else removeAt(value, nearest(value, issue.path));
      }
      current = parse(partsGrammar);
    }
    return current.data as Parts;
  }
}

/** The longest beginning of `path` that has a value. */
function nearest(root: unknown, path: Path): Path {
  let length = path.length;
  while (length > 1 && valueAt(root, path.slice(0, length)) === undefined) length -= 1;
  return path.slice(0, length);
}

export function valueAt(root: unknown, path: Path): unknown {
  let value = root;
  for (const key of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined;
  }
  return value;
}

function setAt(root: unknown, path: Path, value: unknown): void {
  const parent = valueAt(root, path.slice(0, -1));
  const key = path.at(-1);
  if (typeof parent === 'object' && parent !== null && key !== undefined) Reflect.set(parent, key, value);
}

function removeAt(root: unknown, path: Path): void {
  const parent = valueAt(root, path.slice(0, -1));
  const key = path.at(-1);
  if (typeof parent !== 'object' || parent === null || key === undefined) return;
  // Items keep their places, so that positions of later ones stay true; the emptied item is pruned with its list.
  if (Array.isArray(parent)) removeAt(root, path.slice(0, -1));
  else Reflect.deleteProperty(parent, key);
}
