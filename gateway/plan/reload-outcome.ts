// What a load of the policy files came to: told to whoever asked for it, and kept until the next one.
// Made by reload.ts; shown by the admin listener and the command line.
import type { EpochMs } from '../policy/contract.ts';
import type { Problem } from './problems.ts';
import type { Quarantined } from './settle.ts';

/** What a load came to, for whoever asked for it; `revision` is the one in force afterwards. */
export interface ReloadOutcome {
  /**
   * `accepted`: a new plan is in force. `unchanged`: the files say what is in force. `rejected`: they have errors.
   * `failed`: it was not for the files, and the log says why.
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
