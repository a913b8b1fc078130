// Checks a document against a grammar: problems with positions, and the well-formed parts.
import type { z } from 'zod';
import { TOP_KEYS } from '../grammar/editor-schemas.ts';
import type { Problem } from '../problems.ts';
import { type Advice, describeIssue } from './describe-issue.ts';
import type { Path, SourceDocument } from './document.ts';
import { relocated } from './relocated.ts';
import { flattenIssues, knownKeys } from './shape-issues.ts';
import { isMap, pointer, removeAt, setAt, valueAt } from './values.ts';

export interface Shaped<Whole, Parts> {
  readonly problems: readonly Problem[];
  /** The whole file, if its shape is valid. */
  readonly whole: Whole | undefined;
  readonly parts: Parts;
  /** The document without malformed list entries, so that its indexes match `parts`. */
  readonly document: SourceDocument;
}

/** Does not throw: errors are in `problems`. The parts of a valid file are the whole file. */
export function checkShape<Whole extends Parts, Parts>(
  document: SourceDocument,
  grammar: z.ZodType<Whole>,
  partsGrammar: z.ZodType<Parts>,
  advice: Advice,
): Shaped<Whole, Parts> {
  if (!holdsKnownKeys(document.value)) {
    const finding = { rule: 'shape', message: 'this file has no key of a policy or gateway file' };
    return { problems: [document.problem([], finding)], whole: undefined, parts: {} as Parts, document };
  }
  const parsed = parse(grammar, document.value);
  if (parsed.success) return { problems: [], whole: parsed.data, parts: parsed.data, document };
  const problems: Problem[] = [];
  const quoted: Path[] = [];
  const value = structuredClone(document.value);

  const firstIssues = flattenIssues(parsed.error.issues, value);
  for (const issue of firstIssues) {
    // A bare 1.10 where text is expected: use the source text.
    const given = valueAt(value, issue.path);
    const written = document.written(issue.path);
    if (!issue.wantsText || written === undefined) continue;
    if (typeof given !== 'number' && typeof given !== 'boolean') continue;
    setAt(value, issue.path, written);
    quoted.push(issue.path);
  }

  const isChanged = quoted.length > 0;
  const whole = isChanged ? parse(grammar, value) : parsed;
  const issues = isChanged ? flattenIssues(whole.error?.issues ?? [], value) : firstIssues;
  const isWrong = new Set(issues.map(({ path }) => pointer(path)));
  for (const path of quoted) {
    if (isWrong.has(pointer(path))) continue;
    const given = valueAt(document.value, path);
    const message = `${document.isHidden(path) ? 'this value' : document.written(path)} is read as a ${typeof given}: write it in quotes`;
    problems.push(document.problem(path, { rule: 'quote', severity: 'warning', message }));
  }
  for (const issue of issues)
    problems.push(...describeIssue(issue, valueAt(value, issue.path), document, advice));
  const { parts, kept } = prune(value, partsGrammar);
  return { problems, whole: whole.data, parts, document: withoutEntries(document, value, kept) };
}

/** Any other file may hold secrets and be named by mistake, so nothing of it is quoted. */
function holdsKnownKeys(value: unknown): boolean {
  return isMap(value) && Object.keys(value).some((key) => TOP_KEYS.has(key));
}

function parse<T>(grammar: z.ZodType<T>, value: unknown) {
  return grammar.safeParse(value, { error: knownKeys });
}

/** For each shortened list, the original indexes of its entries. */
type KeptIndexes = ReadonlyMap<unknown, readonly number[]>;

const REMOVED = Object.freeze({});

/** Removes malformed values until the rest is valid. Ends, since each round removes something. */
function prune<Parts>(
  value: unknown,
  grammar: z.ZodType<Parts>,
): { readonly parts: Parts; readonly kept: KeptIndexes } {
  const kept = new Map<unknown, readonly number[]>();
  for (;;) {
    const parsed = parse(grammar, value);
    if (parsed.success) return { parts: parsed.data, kept };
    for (const issue of flattenIssues(parsed.error.issues, value)) {
      if (issue.unknown.length > 0)
        for (const key of issue.unknown) removeAt(value, [...issue.path, key], REMOVED);
      // The file is not a map, so nothing is well formed.
      else if (issue.path.length === 0) return { parts: {} as Parts, kept };
      else removeAt(value, nearest(value, issue.path), REMOVED);
    }
    closeLists(value, kept);
  }
}

function closeLists(node: unknown, kept: Map<unknown, readonly number[]>): void {
  if (typeof node !== 'object' || node === null) return;
  if (Array.isArray(node) && node.includes(REMOVED)) {
    const places = kept.get(node) ?? [...node.keys()];
    kept.set(
      node,
      places.filter((_, index) => node[index] !== REMOVED),
    );
    node.splice(0, node.length, ...node.filter((each) => each !== REMOVED));
  }
  for (const each of Object.values(node)) closeLists(each, kept);
}

/** `pruned`: the value of `document` without malformed values. */
function withoutEntries(document: SourceDocument, pruned: unknown, kept: KeptIndexes): SourceDocument {
  if (kept.size === 0) return document;
  const real = (path: Path): Path => {
    let node = pruned;
    return path.map((step) => {
      const place = typeof step === 'number' ? kept.get(node)?.[step] : undefined;
      node = valueAt(node, [step]);
      return place ?? step;
    });
  };
  const closed = (written: unknown, left: unknown): unknown => {
    if (Array.isArray(written) && Array.isArray(left))
      return left.map((each, index) => closed(written[kept.get(left)?.[index] ?? index], each));
    if (!isMap(written) || !isMap(left)) return written;
    // Without a prototype, like the maps of readDocument.
    const map: Record<string, unknown> = Object.create(null);
    for (const [key, each] of Object.entries(written)) map[key] = closed(each, valueAt(left, [key]));
    return map;
  };
  return relocated(document, closed(document.value, pruned), real);
}

/** The longest prefix of `path` that has a value. */
function nearest(root: unknown, path: Path): Path {
  let length = path.length;
  while (length > 1 && valueAt(root, path.slice(0, length)) === undefined) length -= 1;
  return path.slice(0, length);
}
