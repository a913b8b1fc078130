// Types of the watch of the policy files: its options, its handle and the outcome of a load.
import type { EpochMs } from '../../policy/contract.ts';
import type { PolicyReader, ReaderStart } from '../loader-thread/reader-contract.ts';
import type { GatewayPlan } from '../plan.ts';
import type { Problem } from '../problems.ts';
import type { PublishedHistory } from '../published/history.ts';
import type { Environment } from '../read/interpolate.ts';
import type { Settings } from '../settings.ts';
import type { PlanPiece } from './pieces.ts';
import type { Quarantined } from './settle.ts';

export interface WatchOptions {
  readonly settings: Settings;
  readonly configFile: string;
  readonly environment: Environment;
  /** The lifecycle clock. */
  readonly now: () => EpochMs;
  /** The real clock, by which it is said since when a plan is in force. */
  readonly wallClock: () => EpochMs;
  readonly history: PublishedHistory;
  /** A load begins. At most one of the callbacks below reports its outcome. */
  readonly onBegun: () => void;
  /** Waited for: what was published is recorded once the plan is in force. */
  readonly onPlan: (
    plan: GatewayPlan,
    warnings: readonly Problem[],
    pieces: readonly PlanPiece[],
    quarantined: readonly Quarantined[],
  ) => Promise<void> | void;
  /** APIs whose files are refused, where nothing else has changed. */
  readonly onQuarantined: (quarantined: readonly Quarantined[]) => void;
  /** The plan in force stays. */
  readonly onRejected: (problems: readonly Problem[]) => void;
  readonly onUnchanged: () => void;
  /** `gateway.yaml` differs from what the settings were made of; said once per change. */
  readonly onRestartNeeded: () => void;
  /** The watch or a load failed by other than the documents' fault; the plan in force stays. */
  readonly onFault: (error: unknown) => void;
  readonly cwd?: string;
  /** Opens the reader; default: one in its own thread. */
  readonly openReader?: (start: ReaderStart) => PolicyReader;
}

export interface PolicyWatch {
  /** Resolves once changes of files are noticed. */
  readonly ready: Promise<void>;
  /** Loads now; resolves, never rejects, when a load that began after this call has ended. */
  readonly reload: () => Promise<ReloadOutcome>;
  /** The findings of a reload, without reloading. */
  readonly preview: () => Promise<readonly Problem[]>;
  /** The last load that has ended; undefined before the first. */
  readonly last: () => LastLoad | undefined;
  readonly quarantined: () => readonly Quarantined[];
  /** Ends the watch; resolves when no load runs any more. No callback is called afterwards. */
  readonly close: () => Promise<void>;
}

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
