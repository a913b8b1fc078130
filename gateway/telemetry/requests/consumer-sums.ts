// Sums the calls of deprecated versions per consumer over all workers, for a bounded number of consumers.
import type { MonotonicMs } from '../../policy/contract.ts';
import type { MetricsSnapshot } from '../snapshots.ts';
import { CONSUMERS_CAP, IDLE_MS } from './consumer-tally.ts';
import { NONE, OTHER } from './request-labels.ts';

export const CAPPED = 'sundial_deprecated_requests_total';
export const DROPPED = 'sundial_metrics_series_dropped_total';

export interface ConsumerSums<Worker> {
  /** Adds the worker's calls of named consumers since its last snapshot. Returns the rest of `snapshot`. */
  readonly take: (worker: Worker, snapshot: MetricsSnapshot) => MetricsSnapshot;
  /** The sums. Drops consumers without a call for 35 days. */
  readonly snapshot: () => MetricsSnapshot;
}

type Metric = MetricsSnapshot[number];
type CountedValue = Metric['values'][number];

interface VersionSums {
  readonly labels: CountedValue['labels'];
  readonly named: Map<string, { calls: number; movedAt: number }>;
  /** Calls of consumers beyond the bound. Never decreases. */
  others: number;
}

/** `monotonic`: milliseconds. `most`: named consumers per version. */
export function createConsumerSums<Worker extends object>(
  monotonic: () => MonotonicMs,
  most = CONSUMERS_CAP,
): ConsumerSums<Worker> {
  const versions = new Map<string, VersionSums>();
  const updated = new WeakMap<Worker, ReadonlyMap<string, number>>();
  /** The two metrics, used without their values. */
  const metrics = new Map<string, Metric>();
  let dropped = 0;

  const makeRoom = ({ named }: VersionSums): void => {
    for (const [consumer, { movedAt }] of named) if (monotonic() - movedAt > IDLE_MS) named.delete(consumer);
  };
  const add = ({ labels: { consumer, ...labels } }: CountedValue, calls: number): void => {
    const key = JSON.stringify([labels.api, labels.version]);
    const version = versions.get(key) ?? { labels, named: new Map(), others: 0 };
    versions.set(key, version);
    const { named } = version;
    if (named.size >= most) makeRoom(version);
    const known = named.get(String(consumer));
    if (known === undefined && named.size >= most) {
      version.others += calls;
      dropped += calls;
    } else named.set(String(consumer), { calls: (known?.calls ?? 0) + calls, movedAt: monotonic() });
  };

  return {
    take: (worker, snapshot) => {
      const before = updated.get(worker);
      const now = new Map<string, number>();
      const rest = snapshot.map((metric) => {
        if (metric.name === CAPPED || metric.name === DROPPED) metrics.set(metric.name, metric);
        if (metric.name !== CAPPED) return metric;
        const named = metric.values.filter(isNamed);
        for (const each of named) {
          const key = keyOf(each);
          now.set(key, each.value);
          const fresh = each.value - (before?.get(key) ?? 0);
          if (fresh > 0) add(each, fresh);
        }
        return { ...metric, values: metric.values.filter((each) => !isNamed(each)) };
      });
      updated.set(worker, now);
      return rest;
    },
    snapshot: () => {
      const values: CountedValue[] = [];
      for (const version of versions.values()) {
        makeRoom(version);
        const { labels, named, others } = version;
        for (const [consumer, { calls }] of named)
          values.push({ labels: { ...labels, consumer }, value: calls });
        if (others > 0) values.push({ labels: { ...labels, consumer: OTHER }, value: others });
      }
      const sums: Readonly<Record<string, CountedValue[]>> = {
        [CAPPED]: values,
        [DROPPED]: [{ labels: { metric: CAPPED }, value: dropped }],
      };
      return [...metrics.values()].map((metric) => ({ ...metric, values: sums[metric.name] ?? [] }));
    },
  };
}

function isNamed({ labels: { consumer } }: CountedValue): boolean {
  return consumer !== undefined && consumer !== NONE && consumer !== OTHER;
}

function keyOf({ labels: { api, version, consumer } }: CountedValue): string {
  return JSON.stringify([api, version, consumer]);
}
