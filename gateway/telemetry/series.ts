// The types of a metric: the row that defines it, and the samples that the row yields at a scrape.
import type { Latency } from './latency.ts';

export const VERSION = ['api', 'version'] as const;

export type Sample = readonly [labels: readonly string[], value: number];
export type LatencySample = readonly [labels: readonly string[], latency: Latency];

interface RowName {
  readonly name: `sundial_${string}`;
  readonly help: string;
  readonly labels: readonly string[];
}

export interface CounterRow extends RowName {
  readonly kind: 'counter';
  readonly samples: () => Iterable<Sample>;
}

/**
 * How the gauges of several workers become one. `primary`: the value of the primary process, which watches the files
 * and has the admin listener and the embedded store. Counters and histograms are summed.
 */
export type WorkerAggregation = 'sum' | 'max' | 'min' | 'primary';

export interface GaugeRow extends RowName {
  readonly kind: 'gauge';
  readonly across: WorkerAggregation;
  readonly samples: () => Iterable<Sample>;
}

export interface HistogramRow extends RowName {
  readonly kind: 'histogram';
  readonly samples: () => Iterable<LatencySample>;
}

export type MetricRow = CounterRow | GaugeRow | HistogramRow;

type MetricName = MetricRow['name'];

export function counter(
  name: MetricName,
  help: string,
  labels: readonly string[],
  samples: CounterRow['samples'],
): CounterRow {
  return { kind: 'counter', name, help, labels, samples };
}

export function gauge(
  name: MetricName,
  help: string,
  labels: readonly string[],
  samples: GaugeRow['samples'],
  across: WorkerAggregation = 'max',
): GaugeRow {
  return { kind: 'gauge', name, help, labels, samples, across };
}

export function histogram(
  name: MetricName,
  help: string,
  labels: readonly string[],
  samples: HistogramRow['samples'],
): HistogramRow {
  return { kind: 'histogram', name, help, labels, samples };
}

export function single(value: number): Sample[] {
  return [[[], value]];
}
