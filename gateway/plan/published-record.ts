// The port behind which the last accepted policy files are remembered, so that a published schedule is never rewritten.
// Read and written at start and by every reload; never by a request.
import type { EpochMs } from '../policy/contract.ts';
import type { Label } from '../policy/versioning/resolution.ts';

export interface PublishedFile {
  /** A description is read where a policy names it. */
  readonly kind: 'policy' | 'description';
  /** As shown in problems; a name, not a place to read from. */
  readonly name: string;
  /** As the operator wrote it: nothing from the environment is filled in. */
  readonly text: string;
}

/** What was published of a version and no file states any more: it may come back, and is then held to it. */
export interface FormerVersion {
  readonly kind: 'former';
  readonly api: string;
  readonly label: Label;
  /** Hosts and paths under which its API was reached. */
  readonly places: readonly string[];
  /** When it was left out. */
  readonly left: EpochMs;
  readonly released?: EpochMs;
  readonly deprecated?: EpochMs;
  /** As first published. */
  readonly sunset?: EpochMs;
  /** The last extension. */
  readonly extended?: EpochMs;
  readonly forgotten?: EpochMs;
  /** Sunsets of operations that had one of their own. */
  readonly operations?: Readonly<Record<string, EpochMs>>;
}

export type PublishedEntry = PublishedFile | FormerVersion;

/** Every answer rejects with `StoreUnavailable` only. */
export interface PublishedRecord {
  /** The files of the plan accepted last, by any gateway on this store, and what earlier ones said; empty at first. */
  readonly read: () => Promise<readonly PublishedEntry[]>;
  readonly write: (entries: readonly PublishedEntry[]) => Promise<void>;
}
