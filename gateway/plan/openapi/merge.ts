// One version of a policy and the description it names, merged: values to borrow, and what the two do not agree on.
// Between reading the files and checking them.
import type { SourceDocument } from '../read/document.ts';
import { keysOf, valueAt } from '../read/values.ts';
import type { Borrowed } from './borrowed.ts';
import { checkHeaders } from './check-headers.ts';
import type { Description } from './description.ts';
import type { Mark } from './description-text.ts';
import { notesOf } from './merge-notes.ts';
import { mergeOperations } from './merge-operations.ts';
import { mergeVersion } from './merge-version.ts';
import type { DescriptionFinding, Merged, Merging } from './merging.ts';
import { type Placement, type Premises, placeDescription } from './placement.ts';

/** Nothing is taken from a description that has problems of its own: they are reported, and the plan is not built. */
export function mergeDescription(
  document: SourceDocument,
  label: string,
  description: Description,
  { next, now }: Pick<Merging, 'next' | 'now'>,
): Merged {
  if (description.problems.length > 0) return { borrowed: [], findings: [], notes: undefined };
  const { source } = description;
  const borrowed: Borrowed[] = [];
  const findings: DescriptionFinding[] = [];
  const atDescription = (mark: Mark, finding: DescriptionFinding['finding']) =>
    findings.push({ finding, place: (switched) => source.problem(mark, switched) });
  for (const { mark, finding } of description.findings) atDescription(mark, finding);
  const merging: Merging = {
    document,
    description,
    placement: placeIn(document.value, label, description),
    label,
    labels: keysOf(valueAt(document.value, ['versions'])),
    versionedPath: versionedPathOf(document.value),
    at: ['versions', label],
    borrow: (at, { value, mark }) => borrowed.push({ at, value, source, mark }),
    atPolicy: (path, finding) =>
      findings.push({ finding, place: (switched) => document.problem(path, { ...finding, ...switched }) }),
    atDescription,
    next,
    now,
  };
  mergeVersion(merging);
  mergeOperations(merging);
  checkHeaders(merging);
  return { borrowed, findings, notes: notesOf(merging) };
}

/** From the policy as written, well formed or not. */
function placeIn(policy: unknown, label: string, description: Description): Placement {
  const premises: Premises = {
    label,
    base: textAt(policy, ['base']),
    versionedPath: versionedPathOf(policy),
    upstreamPath: textAt(policy, ['upstreams', label, 'path']),
  };
  return placeDescription(description, premises);
}

function versionedPathOf(policy: unknown): string | undefined {
  const resolve = valueAt(policy, ['resolve']);
  if (!Array.isArray(resolve)) return undefined;
  return resolve.map((entry) => textAt(entry, ['path'])).find((path) => path !== undefined);
}

function textAt(value: unknown, path: readonly string[]): string | undefined {
  const found = valueAt(value, path);
  return typeof found === 'string' ? found : undefined;
}
