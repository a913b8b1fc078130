// Exemplars on their way to an OpenMetrics page: the trace that explains a bucket, the latest of all processes.
// Put into a histogram's samples by exposition.ts, taken to the page of several processes by snapshots.ts.
import type { MetricObjectWithValues, MetricValue } from 'prom-client';
import type { Exemplar } from './latency.ts';

/** As prom-client prints it; `timestamp` in seconds. */
export interface RenderedExemplar {
  readonly labelSet: Readonly<Record<string, string>>;
  readonly value: number;
  readonly timestamp: number;
}

/** A sample as it stands in a snapshot; the library's types know less of it. */
type Sample = MetricValue<string> & {
  readonly metricName?: string;
  /** Null in the library's own histograms. */
  readonly exemplar?: RenderedExemplar | null;
};

export function renderedExemplar({ traceId, seconds, at }: Exemplar): RenderedExemplar {
  return { labelSet: { trace_id: traceId }, value: seconds, timestamp: at / 1000 };
}

/** What stands in one process. */
type Metrics = readonly MetricObjectWithValues<MetricValue<string>>[];

/** Gives the samples of `page` the latest exemplars that `snapshots` have for them. */
export function showExemplars(snapshots: readonly Metrics[], page: Metrics): void {
  const latest = new Map<string, RenderedExemplar>();
  for (const sample of samplesOf(snapshots)) {
    const { exemplar = null } = sample;
    if (exemplar === null) continue;
    const key = keyOf(sample);
    if (exemplar.timestamp >= (latest.get(key)?.timestamp ?? 0)) latest.set(key, exemplar);
  }
  if (latest.size === 0) return;
  for (const sample of samplesOf([page])) Object.assign(sample, { exemplar: latest.get(keyOf(sample)) });
}

function* samplesOf(snapshots: readonly Metrics[]): Iterable<Sample> {
  for (const metrics of snapshots)
    for (const { type, values } of metrics) if (String(type) === 'histogram') yield* values;
}

function keyOf({ metricName, labels }: Sample): string {
  return `${metricName} ${JSON.stringify(labels)}`;
}
