// The metrics of all workers: snapshots of running ones and totals of ended ones, so that no counter falls.
import type { MonotonicMs } from '../../policy/contract.ts';
import { createConsumerSums } from '../../telemetry/requests/consumer-sums.ts';
import { type MetricsSnapshot, totalsOf } from '../../telemetry/snapshots.ts';
import { pause, withTimeout } from './restart-delay.ts';

export interface WorkerCounts<Worker> extends Pick<WorkerTotals<Worker>, 'keep' | 'remove'> {
  /** Fresh snapshots, or the last one of a worker that does not respond in time. */
  readonly now: () => Promise<readonly MetricsSnapshot[]>;
  /** Fetches snapshots periodically, so that a crash loses only the last few seconds. */
  readonly watch: (until: AbortSignal) => Promise<void>;
}

export interface WorkerCountsOptions<Worker> {
  readonly serving: () => readonly Worker[];
  readonly ask: (worker: Worker) => Promise<MetricsSnapshot>;
  readonly everyMs: number;
  readonly monotonic: () => MonotonicMs;
}

/** A healthy worker responds in milliseconds. */
const COUNTS_WITHIN_MS = 1_000;

export function createWorkerCounts<Worker extends object>(
  options: WorkerCountsOptions<Worker>,
): WorkerCounts<Worker> {
  const { keep, remove, all } = createWorkerTotals<Worker>(options.monotonic);
  const fetchSnapshot = async (worker: Worker): Promise<void> => {
    const answer = withTimeout(COUNTS_WITHIN_MS, options.ask(worker));
    // A late worker keeps its last snapshot. The pool notices its end.
    await answer.then(
      (snapshot) => keep(worker, snapshot),
      () => undefined,
    );
  };
  return {
    keep,
    remove,
    now: async () => {
      await Promise.all(options.serving().map(fetchSnapshot));
      return all();
    },
    watch: async (until) => {
      while (!until.aborted) {
        await pause(options.everyMs, until);
        // One at a time, so that the other workers answer requests meanwhile.
        for (const worker of until.aborted ? [] : options.serving()) await fetchSnapshot(worker);
      }
    },
  };
}

interface WorkerTotals<Key> {
  readonly keep: (worker: Key, snapshot: MetricsSnapshot) => void;
  readonly remove: (worker: Key) => void;
  /** Snapshots of running workers, totals of ended ones, and the sums by consumer. */
  readonly all: () => Promise<readonly MetricsSnapshot[]>;
}

/** Counts between a worker's last snapshot and a crash are lost. */
export function createWorkerTotals<Key extends object>(monotonic: () => MonotonicMs): WorkerTotals<Key> {
  const consumers = createConsumerSums<Key>(monotonic);
  const latest = new Map<Key, MetricsSnapshot>();
  const ended = new WeakSet<Key>();
  let totals: Promise<MetricsSnapshot> = Promise.resolve([]);
  return {
    keep: (worker, snapshot) => {
      if (!ended.has(worker)) latest.set(worker, consumers.take(worker, snapshot));
    },
    remove: (worker) => {
      const last = latest.get(worker);
      latest.delete(worker);
      ended.add(worker);
      if (last !== undefined) totals = totals.then((before) => totalsOf([before, last]));
    },
    all: async () => {
      // Read before the await: a worker that ends meanwhile is counted here and not yet in `totals`.
      const here = [...latest.values(), consumers.snapshot()];
      return [await totals, ...here];
    },
  };
}
