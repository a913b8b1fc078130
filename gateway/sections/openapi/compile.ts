// Selects the notes of an OpenAPI description that callers get.
import type { VersionRules } from '../../plan/plan.ts';
import type { VersionInput } from '../section.ts';

type Compiled = Pick<VersionRules, 'notes'>;

/** An operation as old as its version, without breaking changes, needs no note. */
export function notesOfVersion({ file, label, version: { released } }: VersionInput): Compiled {
  const notes = file.notes?.[label];
  if (notes === undefined) return { notes };
  const operations = notes.operations.filter(
    ({ introduced = released, breakingChanges }) => introduced !== released || breakingChanges.length > 0,
  );
  const isEmpty = operations.length === 0 && notes.support === undefined && notes.changelog === undefined;
  return { notes: isEmpty ? undefined : { ...notes, operations } };
}

export function notesOfOperation(): Compiled {
  return { notes: undefined };
}
