// Contract of the policy reader of a reload. It runs in its own thread, or in the process of a test.
import type { EpochMs } from '../../policy/contract.ts';
import type { CheckContext } from '../../sections/view.ts';
import type { Problem } from '../problems.ts';
import type { FormerVersion, PublishedEntry } from '../published/record.ts';
import type { Environment } from '../read/interpolate.ts';
import type { ReadPiece } from '../reload/pieces.ts';
import type { Settled } from '../reload/settle.ts';

export interface ReaderStart {
  readonly configFile: string;
  readonly settingsRevision: string;
  /** Absolute glob patterns. */
  readonly patterns: readonly string[];
  readonly checkContext: Omit<CheckContext, 'now'>;
  readonly environment: Environment;
  readonly cwd: string;
}

export interface ReadSummary {
  /** Undefined if a problem is an error. */
  readonly revision: string | undefined;
  /** Of every piece, in the order of the files. Empty if a problem is an error. */
  readonly digests: readonly string[];
  /** Count. */
  readonly problems: number;
  readonly descriptions: readonly string[];
  readonly restartNeeded: boolean;
}

/** The plan that is possible although some files are refused. `problems` and `former` are counts. */
export interface SettledSummary extends Pick<Settled, 'quarantined' | 'retained' | 'unplaced' | 'hasRivals'> {
  readonly revision: string;
  readonly digests: readonly string[];
  readonly problems: number;
  readonly former: number;
}

/** `problems` and `former` are counts. */
export interface ComparisonSummary {
  readonly problems: number;
  readonly former: number;
  readonly hasErrors: boolean;
}

/** Accepts one call at a time. */
export interface PolicyReader {
  /** Reads and checks every file. Unchanged files are not parsed again. */
  readonly read: (now: EpochMs) => Promise<ReadSummary>;
  /** Passes a part of the published history to the thread, for the next `compare` or `settle`. */
  readonly recall: (entries: readonly PublishedEntry[]) => Promise<void>;
  /** Compares the last read with the published history and adds the findings to the problems. */
  readonly compare: (now: EpochMs) => Promise<ComparisonSummary>;
  /** At a start, instead of `compare`: replaces each refused file with the last accepted form of its API. */
  readonly settle: (now: EpochMs) => Promise<SettledSummary>;
  /** Published versions that the files no longer have, from index `from` to before `to`. */
  readonly former: (from: number, to: number) => Promise<readonly FormerVersion[]>;
  /** The pieces of the last read with these digests, in the order of `digests`. */
  readonly pieces: (digests: readonly string[]) => Promise<readonly ReadPiece[]>;
  /** The sorted problems from index `from` to before `to`. */
  readonly problems: (from: number, to: number) => Promise<readonly Problem[]>;
  /** The load has ended; no more calls follow for it. */
  readonly endLoad: () => void;
  readonly close: () => Promise<void>;
}
