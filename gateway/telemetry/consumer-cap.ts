// The most consumers that a version is shown with, over all workers: each keeps to it alone, and together they may name more.
// Between the snapshots of the processes and the page (exposition.ts).
import { CONSUMERS_CAP } from './consumer-tally.ts';
import { NONE, OTHER } from './request-labels.ts';
import type { MetricsSnapshot } from './snapshots.ts';

export const CAPPED = 'sundial_deprecated_requests_total';
export const DROPPED = 'sundial_metrics_series_dropped_total';

/** Who is on the page, and who is among the others; either for as long as anybody counts it, so that no sum falls. */
interface Seats {
  readonly shown: Set<string | number>;
  readonly folded: Set<string | number>;
}

export type ConsumerCap = (snapshots: readonly MetricsSnapshot[]) => readonly MetricsSnapshot[];

export function createConsumerCap(most = CONSUMERS_CAP): ConsumerCap {
  const versions = new Map<string, Seats>();

  /** Who is counted by nobody any more leaves room. */
  function leaveRoom(snapshots: readonly MetricsSnapshot[]): void {
    const counted = new Set<string>();
    for (const metrics of snapshots)
      for (const { name, values } of metrics)
        if (name === CAPPED) for (const each of values) counted.add(idOf(each));
    for (const [version, { shown, folded }] of versions)
      for (const seats of [shown, folded])
        for (const consumer of seats) if (!counted.has(`${version} ${consumer}`)) seats.delete(consumer);
  }

  function isShown(value: Counted): boolean {
    const { consumer } = value.labels;
    if (consumer === undefined || consumer === NONE || consumer === OTHER) return true;
    const version = versionOf(value);
    const seats = versions.get(version) ?? { shown: new Set(), folded: new Set() };
    versions.set(version, seats);
    const { shown, folded } = seats;
    if (!shown.has(consumer) && !folded.has(consumer)) (shown.size < most ? shown : folded).add(consumer);
    return shown.has(consumer);
  }

  return (snapshots) => {
    if (snapshots.length < 2) return snapshots;
    leaveRoom(snapshots);
    let dropped = 0;
    const fold = (value: Counted): Counted => {
      if (isShown(value)) return value;
      dropped += value.value;
      return { ...value, labels: { ...value.labels, consumer: OTHER } };
    };
    const capped = snapshots.map((metrics) =>
      metrics.map((metric) =>
        metric.name === CAPPED ? { ...metric, values: metric.values.map(fold) } : metric,
      ),
    );
    return dropped === 0 ? capped : [...capped, droppedOf(capped, dropped)];
  };
}

function versionOf({ labels: { api, version } }: Counted): string {
  return JSON.stringify([api, version]);
}

function idOf(value: Counted): string {
  return `${versionOf(value)} ${value.labels.consumer}`;
}

type Counted = MetricsSnapshot[number]['values'][number];

/** One more share of the counter that says how much went under another name. */
function droppedOf(snapshots: readonly MetricsSnapshot[], value: number): MetricsSnapshot {
  const found = snapshots.flatMap((metrics) => metrics.find(({ name }) => name === DROPPED) ?? []);
  return found.slice(0, 1).map((metric) => ({ ...metric, values: [{ labels: { metric: CAPPED }, value }] }));
}
