// Types of the watch of the policy files: options, handle, outcome of a load.
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
  /** The real clock, for the times of loads. */
  readonly wallClock: () => EpochMs;
  readonly history: PublishedHistory;
  /** A load starts. At most one of the callbacks below reports its outcome. */
  readonly onBegun: () => void;
  /** Awaited: the published history is recorded when the plan is in force. */
  readonly onPlan: (
    plan: GatewayPlan,
    warnings: readonly Problem[],
    pieces: readonly PlanPiece[],
    quarantined: readonly Quarantined[],
  ) => Promise<void> | void;
  /** Only the quarantined files changed. */
  readonly onQuarantined: (quarantined: readonly Quarantined[]) => void;
  /** The plan in force stays. */
  readonly onRejected: (problems: readonly Problem[]) => void;
  readonly onUnchanged: () => void;
  /** `gateway.yaml` changed after the start. Called once per change. */
  readonly onRestartNeeded: () => void;
  /** The watch or a load failed for another reason than the documents. The plan in force stays. */
  readonly onFault: (error: unknown) => void;
  readonly cwd?: string;
  /** Default: a reader in a thread of its own. */
  readonly openReader?: (start: ReaderStart) => PolicyReader;
}

export interface PolicyWatch {
  /** Resolves when the watcher reports changes. */
  readonly ready: Promise<void>;
  /** Resolves, never rejects, when a load that started after this call has ended. */
  readonly reload: () => Promise<ReloadOutcome>;
  /** The findings of a reload, without reloading. */
  readonly preview: () => Promise<readonly Problem[]>;
  /** Undefined before the first load has ended. */
  readonly last: () => LastLoad | undefined;
  readonly quarantined: () => readonly Quarantined[];
  /** Resolves when no load runs. No callback is called afterwards. */
  readonly close: () => Promise<void>;
}

/** `revision` is the one in force after the load. */
export interface ReloadOutcome {
  /**
   * `accepted`: a new plan is in force. `rejected`: the files have errors. `failed`: another fault, which is logged.
   */
  readonly kind: 'accepted' | 'unchanged' | 'rejected' | 'failed';
  readonly revision: string;
  /** When this revision came into force, by the real clock. */
  readonly since: EpochMs;
  /** By file and position. Warnings only, unless rejected. */
  readonly problems: readonly Problem[];
  readonly restartNeeded: boolean;
  readonly quarantined: readonly Quarantined[];
}

export interface LastLoad {
  readonly at: EpochMs;
  readonly outcome: ReloadOutcome;
}
