// The primary of several workers, where one process would have its service: it starts them, keeps them alike and alive.
// Part of the composition root, called by gateway.ts; worker.ts is what it starts.
import { availableParallelism } from 'node:os';
import type { Policies } from './plan/load-documents.ts';
import type { GatewayPlan } from './plan/plan.ts';
import type { Settings } from './plan/settings.ts';
import type { Certificates } from './server/certificates.ts';
import { DRAIN_MS } from './server/drain.ts';
import { type Crew, createCrew } from './server/workers/crew.ts';
import { forkWorker } from './server/workers/fork.ts';
import type { PlanDocuments } from './server/workers/protocol.ts';
import type { Service } from './service.ts';
import type { Stores } from './stores/stores.ts';
import type { Telemetry } from './telemetry/telemetry.ts';

/** A service whose requests are answered elsewhere. */
export interface Primary extends Service, Pick<Crew, 'tell' | 'snapshots'> {}

export interface PrimaryOptions {
  readonly settings: Settings;
  readonly workers: number;
  /** Of the first plan. */
  readonly documents: PlanDocuments;
  readonly certificates: Certificates | undefined;
  /** How far the lifecycle clock is ahead of the real one, milliseconds; undefined: it was not moved. */
  readonly clockOffset: () => number | undefined;
  readonly stores: Pick<Stores, 'answers' | 'start'>;
  readonly telemetry: Pick<Telemetry, 'logger' | 'relay' | 'metrics'>;
  /** Monotonic milliseconds. */
  readonly monotonic: () => number;
}

/** For what a worker lets go of after its drain. */
const LETTING_GO_MS = 2_000;

/** How many processes are to answer requests. */
export function workersOf({ workers }: Settings): number {
  return workers === 'auto' ? availableParallelism() : workers;
}

/** What a plan was made of, as it is sent to workers. */
export function documentsOf(plan: GatewayPlan, { sources }: Policies): PlanDocuments {
  return { policies: sources.map(({ file }) => file), revision: plan.revision };
}

export function createPrimary(options: PrimaryOptions): Primary {
  const { settings, workers, documents, certificates, clockOffset, stores, telemetry, monotonic } = options;
  const crew = createCrew({
    size: workers,
    fork: (answers) => forkWorker(new URL('./worker.ts', import.meta.url), answers),
    answers: { ...stores.answers },
    start: () => ({ settings, workers, certificates, clockOffset: clockOffset(), stores: stores.start() }),
    documents,
    relay: telemetry.relay,
    logger: telemetry.logger,
    drainWithinMs: DRAIN_MS + LETTING_GO_MS,
    monotonic,
  });
  telemetry.metrics.countWorkers(crew.serving);
  return { ...crew, use: (_plan, documents) => crew.use(documents) };
}
