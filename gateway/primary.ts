// The primary process: starts the workers, keeps their plans equal, and replaces the ones that end.
import { availableParallelism } from 'node:os';
import type { GatewayPlan } from './plan/plan.ts';
import type { PlanPiece } from './plan/reload/pieces.ts';
import type { Settings } from './plan/settings.ts';
import type { MonotonicMs } from './policy/contract.ts';
import type { PublicCertificates } from './server/public-certificates.ts';
import type { PublicSockets } from './server/public-listeners.ts';
import { forkWorker, holdSockets } from './server/workers/fork.ts';
import type { PlanOrder } from './server/workers/protocol.ts';
import { createWorkerPool, type WorkerPool } from './server/workers/worker-pool.ts';
import type { Service } from './service.ts';
import type { Stores } from './stores/stores.ts';
import type { Telemetry } from './telemetry/telemetry.ts';

/** A service whose worker processes answer the requests. */
export interface Primary extends Service, Pick<WorkerPool, 'notify' | 'setLogLevel' | 'snapshots'> {
  /** Resolves when every worker uses `plan`. */
  readonly distribute: (plan: GatewayPlan, pieces: readonly PlanPiece[]) => Promise<void>;
}

export interface PrimaryOptions {
  readonly settings: Settings;
  readonly workers: number;
  readonly revision: string;
  /** Of the first plan. */
  readonly pieces: readonly PlanPiece[];
  readonly certificates: PublicCertificates | undefined;
  /** From the service manager. */
  readonly sockets: PublicSockets | undefined;
  /** Milliseconds by which the lifecycle clock is ahead of the real one. Undefined if it was not moved. */
  readonly clockOffset: () => number | undefined;
  readonly stores: Pick<Stores, 'answers' | 'start'>;
  readonly telemetry: Pick<Telemetry, 'logger' | 'relay' | 'metrics'>;
  readonly monotonic: () => MonotonicMs;
}

/** Time for a worker to close its stores after its drain. */
const CLOSE_WITHIN_MS = 2_000;

export function workersOf({ workers }: Settings): number {
  return workers === 'auto' ? availableParallelism() : workers;
}

/** @throws the system's error if a public address cannot be bound */
export async function openPrimary(options: PrimaryOptions): Promise<Primary> {
  const { settings, workers, certificates, clockOffset, stores, telemetry, monotonic } = options;
  let available = new Map(options.pieces.map((piece) => [piece.digest, piece]));
  const held = await holdSockets(settings.listeners, options.sockets);
  const pool = createWorkerPool({
    size: workers,
    fork: (answers) => forkWorker(new URL('./worker.ts', import.meta.url), answers, held.descriptors),
    answers: { ...stores.answers },
    start: () => ({
      settings: { ...settings, logLevel: telemetry.logger.level() },
      workers,
      sockets: held.inWorker,
      pairs: certificates?.current().pairs,
      clockOffset: clockOffset(),
      stores: stores.start(),
    }),
    order: orderOf(options.revision, options.pieces),
    // Without the texts, which only the published history needs.
    pieces: (digests) =>
      digests.flatMap((digest) => {
        const file = available.get(digest)?.file;
        return file === undefined ? [] : [{ digest, file, files: [] }];
      }),
    relay: telemetry.relay,
    logger: telemetry.logger,
    drainWithinMs: settings.drain.waitMs + settings.drain.timeoutMs + CLOSE_WITHIN_MS,
    monotonic,
  });
  telemetry.metrics.countWorkers(pool.serving);
  certificates?.onChange(({ pairs }) => pool.show(pairs));
  return {
    ...pool,
    drain: () => {
      // From here on only workers that still accept get connections.
      held.release();
      return pool.drain();
    },
    close: () => {
      held.release();
      return pool.close();
    },
    // Workers release what a plan no longer needs.
    use: async () => undefined,
    distribute: async ({ revision }, pieces) => {
      const next = new Map(pieces.map((piece) => [piece.digest, piece]));
      // A worker may still start with the previous plan.
      available = new Map([...available, ...next]);
      await pool.use(orderOf(revision, pieces));
      available = next;
    },
  };
}

function orderOf(revision: string, pieces: readonly PlanPiece[]): PlanOrder {
  return { revision, digests: pieces.map(({ digest }) => digest) };
}
