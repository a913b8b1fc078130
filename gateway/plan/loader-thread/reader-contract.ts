// What reads and checks policies for a reload, wherever it runs: in a thread of its own, or in the process of a test.
import type { EpochMs } from '../../policy/contract.ts';
import type { CheckContext } from '../../sections/view.ts';
import type { Problem } from '../problems.ts';
import type { FormerVersion, PublishedEntry } from '../published/record.ts';
import type { Environment } from '../read/interpolate.ts';
import type { ReadPiece } from '../reload/pieces.ts';
import type { Settled } from '../reload/settle.ts';

/** What a reader works with from its start. */
export interface ReaderStart {
  readonly configFile: string;
  /** Revision of the gateway file that the process runs with. */
  readonly settingsRevision: string;
  /** Absolute paths with wildcards. */
  readonly patterns: readonly string[];
  readonly around: Omit<CheckContext, 'now'>;
  readonly environment: Environment;
  readonly cwd: string;
}

export interface ReadSummary {
  /** Undefined when there is an error among the problems. */
  readonly revision: string | undefined;
  /** Of every piece, in the order of the files; empty when there is an error. */
  readonly digests: readonly string[];
  /** How many there are. */
  readonly problems: number;
  /** Absolute paths of the files that policies name. */
  readonly descriptions: readonly string[];
  /** The gateway file is not what the process runs with. */
  readonly restartNeeded: boolean;
}

/** What a plan can be made of although some files are refused. */
export interface SettledSummary extends Pick<Settled, 'quarantined' | 'retained' | 'unplaced' | 'hasRivals'> {
  readonly revision: string;
  readonly digests: readonly string[];
  readonly problems: number;
  readonly former: number;
}

/** Two of them are how many there are. */
export interface ComparedSummary {
  readonly problems: number;
  readonly former: number;
  readonly hasErrors: boolean;
}

/** One question at a time. */
export interface PolicyReader {
  /** Reads and checks every file; what has not changed since the last time is not parsed again. */
  readonly read: (now: EpochMs) => Promise<ReadSummary>;
  /** What was published, part by part; `compare` then holds what was read last against it. */
  readonly recall: (entries: readonly PublishedEntry[]) => Promise<void>;
  /** Adds what was rewritten to the problems. */
  readonly compare: (now: EpochMs) => Promise<ComparedSummary>;
  /** After `recall`, instead of `compare`: puts the last accepted form of its API in the place of each refused file. */
  readonly settle: (now: EpochMs) => Promise<SettledSummary>;
  /** A part of what was published and the files do not state any more. */
  readonly former: (from: number, to: number) => Promise<readonly FormerVersion[]>;
  /** Those of the last reading with these digests, in their order. */
  readonly pieces: (digests: readonly string[]) => Promise<readonly ReadPiece[]>;
  /** A part of the sorted list; `to` is not included. */
  readonly problems: (from: number, to: number) => Promise<readonly Problem[]>;
  /** The load is over: its answers are not asked for again. */
  readonly rest: () => void;
  /** Resolves when nothing of it is left. */
  readonly close: () => Promise<void>;
}
