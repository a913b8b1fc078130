// Writes the lifecycle of a version into its description and changes no other byte.
import { isMap, type YAMLMap } from 'yaml';
import { type DescribedOperation, type Description, readDescription } from './description.ts';
import { type Live, liveApi, liveOperation } from './live.ts';
import { createTextEdits } from './text-edits.ts';

export type WrittenLifecycle =
  | { readonly kind: 'text'; readonly text: string }
  /** Anchors or aliases share a place, or `x-lifecycle` is not a map. */
  | { readonly kind: 'entangled' }
  /** No map can hold the lifecycle of the version. */
  | { readonly kind: 'homeless' };

/** New keys of an operation follow these, before parameters and responses. */
const HEADINGS = ['tags', 'summary', 'description', 'externalDocs', 'operationId', 'deprecated'];

export function writeLifecycle(live: Live): WrittenLifecycle {
  if (homeOf(live.description) === undefined) return { kind: 'homeless' };
  const text = edited(live, live.description);
  if (text === undefined) return { kind: 'entangled' };
  const again = readDescription(live.description.source.file, new TextEncoder().encode(text));
  const isKept = again.problems.length === 0 && leavesOthers(live, live.description, again);
  // A second edit of the written text must change nothing.
  return isKept && edited(live, again) === text ? { kind: 'text', text } : { kind: 'entangled' };
}

/** Whether operations without a change kept their values. An anchor elsewhere may be shared with them. */
function leavesOthers(live: Live, before: Description, after: Description): boolean {
  if (before.operations.length !== after.operations.length) return false;
  return before.operations.every((operation, index) => {
    const now = after.operations[index];
    return (
      liveOperation(operation, live) !== undefined || (now !== undefined && saying(now) === saying(operation))
    );
  });
}

function saying({ flag, status, introduced, deprecated, sunset, replacement }: DescribedOperation): string {
  const fields = [flag, status, introduced, deprecated, sunset, replacement];
  return JSON.stringify(fields.map((field) => field?.value ?? null));
}

/** The map that has, or should have, `x-lifecycle` of the version. */
function homeOf({ source: { root, at } }: Description): YAMLMap | undefined {
  const info = at(root, 'info');
  if (isMap(at(root, 'x-lifecycle')) && at(info, 'x-lifecycle') === undefined) return root;
  return isMap(info) ? info : undefined;
}

function edited(live: Live, description: Description): string | undefined {
  const { source, operations } = description;
  const home = homeOf(description);
  if (home === undefined) return undefined;
  const edits = createTextEdits(source);
  edits.want(home, { 'x-lifecycle': liveApi({ ...live, description }) });
  for (const operation of operations) {
    const wanted = liveOperation(operation, { ...live, description });
    if (wanted !== undefined) edits.want(operation.node, wanted, HEADINGS);
  }
  return edits.apply();
}
