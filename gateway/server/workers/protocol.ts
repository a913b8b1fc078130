// Messages between the primary and its workers, except those of the stores.
import type { LogLevel } from '../../plan/grammar/logs-section.ts';
import type { ReadPiece } from '../../plan/reload/pieces.ts';
import type { Settings } from '../../plan/settings.ts';
import type { MetricsSnapshot } from '../../telemetry/snapshots.ts';
import type { KeyPair } from '../certificates.ts';
import type { PublicListeners, PublicSockets } from '../public-listeners.ts';

/** The digests of the parts of a plan. A worker requests the parts that it lacks. */
export interface PlanOrder {
  readonly digests: readonly string[];
  readonly revision: string;
}

export interface WorkerStart {
  readonly settings: Settings;
  readonly order: PlanOrder;
  readonly sockets: PublicSockets;
  /** Only the primary reads, watches and creates the certificate files. */
  readonly pairs: readonly KeyPair[] | undefined;
  /** Milliseconds by which the lifecycle clock is ahead of the real one. Undefined if it was not moved. */
  readonly clockOffset: number | undefined;
  readonly workers: number;
  readonly stores: unknown;
}

export type BoundListeners = Pick<PublicListeners, 'https' | 'http'>;

export interface WorkerAnswers {
  /** Resolves once the worker accepts connections. Rejects with the reason if it cannot. */
  readonly start: (start: WorkerStart) => Promise<BoundListeners>;
  /** Resolves once the plan applies to every new request. */
  readonly use: (order: PlanOrder) => Promise<void> | void;
  /** New connections use these key pairs. */
  readonly show: (pairs: readonly KeyPair[]) => Promise<void> | void;
  readonly setLogLevel: (level: LogLevel) => Promise<void> | void;
  /** Applies an update from the stores of the primary. */
  readonly hear: (news: unknown) => Promise<void> | void;
  readonly snapshot: () => Promise<MetricsSnapshot>;
  /** Stops accepting and finishes running requests. Resolves once the worker has sent its last metrics. */
  readonly drain: () => Promise<void>;
}

export interface PrimaryAnswers {
  readonly pieces: (digests: readonly string[]) => readonly ReadPiece[];
  /** Whole log lines. Only the primary writes the log. */
  readonly log: (lines: string) => void;
  /** The worker then finishes running requests and ends. */
  readonly leaving: () => void;
  /** The last metrics of a drained worker. */
  readonly farewell: (snapshot: MetricsSnapshot) => void;
}
