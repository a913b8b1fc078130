// The outcome of a load of the policy files, kept until the next load.
// The admin listener and the command line show it.
import type { EpochMs } from '../policy/contract.ts';
import type { Problem } from './problems.ts';
import type { Quarantined } from './settle.ts';

/** `revision` is the one in force after the load. */
export interface ReloadOutcome {
  /**
   * `accepted`: a new plan is in force. `unchanged`: the files are in force already. `rejected`: the files have errors.
   * `failed`: another fault, which the log names.
   */
  readonly kind: 'accepted' | 'unchanged' | 'rejected' | 'failed';
  readonly revision: string;
  /** Since when that one is in force, by the real clock. */
  readonly since: EpochMs;
  /** By file and position; warnings only, unless rejected. Where unchanged, what the plan in force had rewritten is among them. */
  readonly problems: readonly Problem[];
  /** `gateway.yaml` differs from what the process runs with. */
  readonly restartNeeded: boolean;
  /** APIs whose files are refused, although others may have been taken. */
  readonly quarantined: readonly Quarantined[];
}

export interface LastLoad {
  readonly at: EpochMs;
  readonly outcome: ReloadOutcome;
}
