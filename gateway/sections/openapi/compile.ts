// What the description of a version tells its callers, without what is no news.
import type { VersionRules } from '../../plan/plan.ts';
import type { VersionInput } from '../section.ts';

type Compiled = Pick<VersionRules, 'notes'>;

/** An operation that came with its version, and of which nothing broke, is no news. */
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
