// What the workers have counted: asked at every scrape, and now and then in between, so that one that ends suddenly takes
// no more than the last few seconds with it; and what is kept of those that ended, since a sum must not fall. Part of crew.ts.
import type { MonotonicMs } from '../../policy/contract.ts';
import { createConsumerSums } from '../../telemetry/requests/consumer-sums.ts';
import { type MetricsSnapshot, totalsOf } from '../../telemetry/snapshots.ts';
import { pause, within } from './pace.ts';

export interface WorkerCounts<Worker> extends Pick<Departures<Worker>, 'keep' | 'remove'> {
  /** As they are now; of a worker that does not answer in time, as they were. */
  readonly now: () => Promise<readonly MetricsSnapshot[]>;
  /** Looks again and again until then. */
  readonly watch: (until: AbortSignal) => Promise<void>;
}

export interface WorkerCountsOptions<Worker> {
  readonly serving: () => readonly Worker[];
  readonly ask: (worker: Worker) => Promise<MetricsSnapshot>;
  /** Milliseconds between two looks, while nobody scrapes. */
  readonly everyMs: number;
  /** Milliseconds. */
  readonly monotonic: () => MonotonicMs;
}

/** For what takes a worker milliseconds unless something is very wrong with it. */
const COUNTS_WITHIN_MS = 1_000;

export function createWorkerCounts<Worker extends object>(
  options: WorkerCountsOptions<Worker>,
): WorkerCounts<Worker> {
  const { keep, remove, all } = createDepartures<Worker>(options.monotonic);
  const fetchSnapshot = async (worker: Worker): Promise<void> => {
    const answer = within(COUNTS_WITHIN_MS, options.ask(worker));
    // Of one that does not answer, what it said last is shown; the crew notices the rest.
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
        // One after the other: requests are answered by the rest meanwhile.
        for (const worker of until.aborted ? [] : options.serving()) await fetchSnapshot(worker);
      }
    },
  };
}

interface Departures<Key> {
  /** What a worker had counted when it was asked last. */
  readonly keep: (worker: Key, snapshot: MetricsSnapshot) => void;
  readonly remove: (worker: Key) => void;
  /** Of everyone who has not left, and the totals of those who have; of consumers by name, the sums of all. */
  readonly all: () => Promise<readonly MetricsSnapshot[]>;
}

/** What a worker counts between its last snapshot and a sudden end is lost. `monotonic`: milliseconds. */
export function createDepartures<Key extends object>(monotonic: () => MonotonicMs): Departures<Key> {
  const consumers = createConsumerSums<Key>(monotonic);
  const latest = new Map<Key, MetricsSnapshot>();
  const left = new WeakSet<Key>();
  let totals: Promise<MetricsSnapshot> = Promise.resolve([]);
  return {
    keep: (worker, snapshot) => {
      if (!left.has(worker)) latest.set(worker, consumers.take(worker, snapshot));
    },
    remove: (worker) => {
      const last = latest.get(worker);
      latest.delete(worker);
      left.add(worker);
      if (last !== undefined) totals = totals.then((before) => totalsOf([before, last]));
    },
    all: async () => {
      // Taken in one moment: who leaves meanwhile is among these, and not yet among those who are gone.
      const here = [...latest.values(), consumers.snapshot()];
      return [await totals, ...here];
    },
  };
}
