// What the primary and its workers say to each other, besides what their stores do.
import type { ReadPiece } from '../../plan/reload/pieces.ts';
import type { Settings } from '../../plan/settings.ts';
import type { MetricsSnapshot } from '../../telemetry/snapshots.ts';
import type { KeyPair } from '../certificates.ts';
import type { PublicFace, PublicSockets } from '../public-face.ts';

/** A plan as it crosses: the digests of its pieces, which a worker asks for where it has others. */
export interface PlanOrder {
  readonly digests: readonly string[];
  readonly revision: string;
}

export interface WorkerStart {
  readonly settings: Settings;
  readonly order: PlanOrder;
  /** What it accepts connections on. */
  readonly sockets: PublicSockets;
  /** Those of the public listeners: the primary alone reads, watches and makes the files. */
  readonly pairs: readonly KeyPair[] | undefined;
  /** How far the lifecycle clock is ahead of the real one, milliseconds; undefined: it was not moved. */
  readonly clockOffset: number | undefined;
  /** How many workers there are. */
  readonly workers: number;
  /** What the stores of the worker begin with. */
  readonly stores: unknown;
}

/** As bound. */
export type BoundListeners = Pick<PublicFace, 'https' | 'http'>;

/** What a worker does when told to. */
export interface WorkerAnswers {
  /** Resolves once it accepts connections; fails with the reason why it cannot. */
  readonly start: (start: WorkerStart) => Promise<BoundListeners>;
  /** Resolves once every new request is judged by it. */
  readonly use: (order: PlanOrder) => Promise<void> | void;
  /** Those that new connections are shown from now on. */
  readonly show: (pairs: readonly KeyPair[]) => Promise<void> | void;
  /** What the stores of the primary tell those of a worker. */
  readonly hear: (news: unknown) => Promise<void> | void;
  readonly snapshot: () => Promise<MetricsSnapshot>;
  /** Accepts nothing new and finishes what runs. Resolves when nothing is left, the process apart. */
  readonly drain: () => Promise<void>;
}

/** What the primary does for a worker. */
export interface PrimaryAnswers {
  /** Pieces of the plan that it was told to use. */
  readonly pieces: (digests: readonly string[]) => readonly ReadPiece[];
  /** Whole lines for the log, which the primary alone writes. */
  readonly log: (lines: string) => void;
  /** The worker ends after an error of its own, once it has finished what runs. */
  readonly leaving: () => void;
  /** What it has counted, said last. */
  readonly farewell: (snapshot: MetricsSnapshot) => void;
}
