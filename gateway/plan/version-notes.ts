// What the description of a version tells its callers and the gateway does nothing about: support, changelog, and of
// operations since when they are there and what broke. Read with the policy, carried in the plan, published.
import type { EpochMs } from '../policy/contract.ts';

export interface Support {
  /** A word of the description, such as `full` or `security`. */
  readonly level?: string;
  readonly until?: EpochMs;
}

export interface OperationNotes {
  /** As the policy names it, or would: `GET /search`. */
  readonly operation: string;
  readonly introduced?: EpochMs;
  /** In the order written. */
  readonly breakingChanges: readonly string[];
}

/** Plain data, handed from thread to thread with the policy. */
export interface VersionNotes {
  readonly support?: Support;
  /** Absolute URL. */
  readonly changelog?: string;
  readonly operations: readonly OperationNotes[];
}

/** Without what is no news: an operation that came with its version, and of which nothing broke. */
export function newsOf(notes: VersionNotes | undefined, released: EpochMs): VersionNotes | undefined {
  if (notes === undefined) return undefined;
  const operations = notes.operations.filter(
    ({ introduced = released, breakingChanges }) => introduced !== released || breakingChanges.length > 0,
  );
  const isEmpty = operations.length === 0 && notes.support === undefined && notes.changelog === undefined;
  return isEmpty ? undefined : { ...notes, operations };
}
