// Exemplars on their way to an OpenMetrics page: the trace that explains a bucket, the latest of all processes.
// Put into a histogram's samples by exposition.ts, taken to the page of several processes by snapshots.ts.
import type { Exemplar } from './latency.ts';
import type { MetricsSnapshot } from './snapshots.ts';

/** As prom-client prints it; `timestamp` in seconds. */
export interface RenderedExemplar {
  readonly labelSet: Readonly<Record<string, string>>;
  readonly value: number;
  readonly timestamp: number;
}

/** A sample as it stands in a snapshot; the library's types know less of it. */
type Sample = MetricsSnapshot[number]['values'][number] & {
  readonly metricName?: string;
  readonly exemplar?: RenderedExemplar;
};

export function renderedExemplar({ traceId, seconds, at }: Exemplar): RenderedExemplar {
  return { labelSet: { trace_id: traceId }, value: seconds, timestamp: at / 1000 };
}

/** Gives the samples of `page` the latest exemplars that `snapshots` have for them. */
export function showExemplars(snapshots: readonly MetricsSnapshot[], page: MetricsSnapshot): void {
  const latest = new Map<string, RenderedExemplar>();
  for (const sample of samplesOf(snapshots)) {
    const { exemplar } = sample;
    if (exemplar === undefined) continue;
    const key = keyOf(sample);
    if (exemplar.timestamp >= (latest.get(key)?.timestamp ?? 0)) latest.set(key, exemplar);
  }
  if (latest.size === 0) return;
  for (const sample of samplesOf([page])) Object.assign(sample, { exemplar: latest.get(keyOf(sample)) });
}

function* samplesOf(snapshots: readonly MetricsSnapshot[]): Iterable<Sample> {
  for (const metrics of snapshots)
    for (const { type, values } of metrics) if (String(type) === 'histogram') yield* values;
}

function keyOf({ metricName, labels }: Sample): string {
  return `${metricName} ${JSON.stringify(labels)}`;
}
