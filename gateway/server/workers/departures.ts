// What workers have counted, those that have ended included: a sum of counters must not fall when one of them is gone.
// Kept by counts.ts.
import type { MonotonicMs } from '../../policy/contract.ts';
import { createConsumerSums } from '../../telemetry/consumer-sums.ts';
import { type MetricsSnapshot, totalsOf } from '../../telemetry/snapshots.ts';

export interface Departures<Key> {
  /** What a worker had counted when it was asked last. */
  readonly keep: (worker: Key, snapshot: MetricsSnapshot) => void;
  readonly leave: (worker: Key) => void;
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
    leave: (worker) => {
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
