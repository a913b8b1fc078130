// Facts from the description of a version that the gateway only publishes.
import type { EpochMs } from '../policy/contract.ts';

export interface Support {
  /** As in the description: `full`, `security`. */
  readonly level?: string;
  readonly until?: EpochMs;
}

export interface OperationNotes {
  /** As in a policy: `GET /search`. */
  readonly operation: string;
  readonly introduced?: EpochMs;
  readonly breakingChanges: readonly string[];
}

/** Plain data: threads pass it to each other. */
export interface VersionNotes {
  readonly support?: Support;
  readonly changelog?: string;
  readonly operations: readonly OperationNotes[];
}
