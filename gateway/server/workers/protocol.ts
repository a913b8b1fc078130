// Messages between the primary and its workers, except those of the stores.
import type { LogLevel } from '../../plan/grammar/logs-section.ts';
import type { ReadPiece } from '../../plan/reload/pieces.ts';
import type { Settings } from '../../plan/settings.ts';
import type { MetricsSnapshot } from '../../telemetry/snapshots.ts';
import type { KeyPair } from '../certificates.ts';
import type { PublicFace, PublicSockets } from '../public-face.ts';

/** A plan as it is sent: the digests of its pieces. A worker requests the pieces that it lacks. */
export interface PlanOrder {
  readonly digests: readonly string[];
  readonly revision: string;
}

export interface WorkerStart {
  readonly settings: Settings;
  readonly order: PlanOrder;
  readonly sockets: PublicSockets;
  /** Certificates of the public listeners. Only the primary reads, watches and creates the files. */
  readonly pairs: readonly KeyPair[] | undefined;
  /** Milliseconds by which the lifecycle clock is ahead of the real one; undefined if it was not moved. */
  readonly clockOffset: number | undefined;
  readonly workers: number;
  /** Initial state of the worker's stores. */
  readonly stores: unknown;
}

export type BoundListeners = Pick<PublicFace, 'https' | 'http'>;

export interface WorkerAnswers {
  /** Resolves once it accepts connections; fails with the reason why it cannot. */
  readonly start: (start: WorkerStart) => Promise<BoundListeners>;
  /** Resolves once every new request is judged by it. */
  readonly use: (order: PlanOrder) => Promise<void> | void;
  /** Replaces the certificates for new connections. */
  readonly show: (pairs: readonly KeyPair[]) => Promise<void> | void;
  readonly setLogLevel: (level: LogLevel) => Promise<void> | void;
  /** News from the primary's stores. */
  readonly hear: (news: unknown) => Promise<void> | void;
  readonly snapshot: () => Promise<MetricsSnapshot>;
  /** Accepts no new connections and finishes running requests; resolves when only the process is left. */
  readonly drain: () => Promise<void>;
}

export interface PrimaryAnswers {
  /** Pieces of the plan that the worker was sent. */
  readonly pieces: (digests: readonly string[]) => readonly ReadPiece[];
  /** Whole log lines; only the primary writes the log. */
  readonly log: (lines: string) => void;
  /** After an uncaught error the worker finishes running requests and ends. */
  readonly leaving: () => void;
  /** The last snapshot before the worker ends. */
  readonly farewell: (snapshot: MetricsSnapshot) => void;
}
