// What the description of a version tells its callers, and the gateway only publishes.
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
