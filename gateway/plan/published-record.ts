// The port behind which the last accepted policy files are remembered, so that a published schedule is never rewritten.
// Read and written at start and by every reload; never by a request.

export interface PublishedFile {
  /** A description is read where a policy names it. */
  readonly kind: 'policy' | 'description';
  /** As shown in problems; a name, not a place to read from. */
  readonly name: string;
  /** As the operator wrote it: nothing from the environment is filled in. */
  readonly text: string;
}

/** Every answer rejects with `StoreUnavailable` only. */
export interface PublishedRecord {
  /** The files of the plan accepted last, by any gateway on this store; empty before the first. */
  readonly read: () => Promise<readonly PublishedFile[]>;
  readonly write: (files: readonly PublishedFile[]) => Promise<void>;
}
