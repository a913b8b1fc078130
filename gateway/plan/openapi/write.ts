// Writes the lifecycle of a version into its description and changes no other byte.
import { isMap, type YAMLMap } from 'yaml';
import { apiLifecycle, type DescribedVersion, operationLifecycle } from './described-lifecycle.ts';
import { type DescribedOperation, type Description, readDescription } from './description.ts';
import { createTextEdits } from './text-edits.ts';

export type WrittenLifecycle =
  | { readonly kind: 'text'; readonly text: string }
  /** Anchors or aliases share a place, or `x-lifecycle` is not a map. */
  | { readonly kind: 'shared-anchor' }
  /** No map can hold the lifecycle of the version. */
  | { readonly kind: 'no-map' };

/** New keys of an operation follow these, before parameters and responses. */
const KEYS_BEFORE = ['tags', 'summary', 'description', 'externalDocs', 'operationId', 'deprecated'];

export function writeLifecycle(described: DescribedVersion): WrittenLifecycle {
  if (lifecycleParentOf(described.description) === undefined) return { kind: 'no-map' };
  const text = edited(described, described.description);
  if (text === undefined) return { kind: 'shared-anchor' };
  const again = readDescription(described.description.source.file, new TextEncoder().encode(text));
  const isKept = again.problems.length === 0 && keepsOthers(described, described.description, again);
  // A second edit of the written text must change nothing.
  return isKept && edited(described, again) === text ? { kind: 'text', text } : { kind: 'shared-anchor' };
}

/** Whether operations without a change kept their values. An anchor elsewhere may be shared with them. */
function keepsOthers(described: DescribedVersion, before: Description, after: Description): boolean {
  if (before.operations.length !== after.operations.length) return false;
  return before.operations.every((operation, index) => {
    const now = after.operations[index];
    return (
      operationLifecycle(operation, described) !== undefined ||
      (now !== undefined && lifecycleText(now) === lifecycleText(operation))
    );
  });
}

function lifecycleText({
  flag,
  status,
  introduced,
  deprecated,
  sunset,
  replacement,
}: DescribedOperation): string {
  const fields = [flag, status, introduced, deprecated, sunset, replacement];
  return JSON.stringify(fields.map((field) => field?.value ?? null));
}

/** The map that has, or should have, `x-lifecycle` of the version. */
function lifecycleParentOf({ source: { root, at } }: Description): YAMLMap | undefined {
  const info = at(root, 'info');
  if (isMap(at(root, 'x-lifecycle')) && at(info, 'x-lifecycle') === undefined) return root;
  return isMap(info) ? info : undefined;
}

function edited(described: DescribedVersion, description: Description): string | undefined {
  const { source, operations } = description;
  const parent = lifecycleParentOf(description);
  if (parent === undefined) return undefined;
  const edits = createTextEdits(source);
  edits.want(parent, { 'x-lifecycle': apiLifecycle({ ...described, description }) });
  for (const operation of operations) {
    const wanted = operationLifecycle(operation, { ...described, description });
    if (wanted !== undefined) edits.want(operation.node, wanted, KEYS_BEFORE);
  }
  return edits.apply();
}
