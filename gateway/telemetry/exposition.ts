// The /metrics page: hands the rows to prom-client when it is scraped.
// prom-client keeps no count of ours; it names, escapes and renders, and adds the process and runtime metrics.
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { LATENCY_BOUNDS } from './latency.ts';
import type { HistogramRow, MetricRow } from './series.ts';

export interface MetricsPage {
  readonly contentType: string;
  readonly body: string;
}

/** Gauges that end in _total, which the lint of Prometheus refuses. */
const MISNAMED = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
];

export function createExposition(rows: readonly MetricRow[]): () => Promise<MetricsPage> {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  for (const name of MISNAMED) registry.removeSingleMetric(name);
  for (const row of rows) register(registry, row);
  return async () => ({ contentType: registry.contentType, body: await registry.metrics() });
}

function register(registry: Registry, row: MetricRow): void {
  const shape = { name: row.name, help: row.help, labelNames: [...row.labels], registers: [registry] };
  switch (row.kind) {
    case 'counter':
      new Counter({
        ...shape,
        collect() {
          this.reset();
          for (const [labels, value] of row.samples()) this.inc(named(row, labels), value);
        },
      });
      return;
    case 'gauge':
      new Gauge({
        ...shape,
        collect() {
          this.reset();
          for (const [labels, value] of row.samples()) this.set(named(row, labels), value);
        },
      });
      return;
    case 'histogram':
      // The library can only observe one value at a time, so the finished buckets are handed to its renderer instead.
      Object.assign(new Histogram({ ...shape, buckets: [...LATENCY_BOUNDS] }), {
        getForPromString: async () => ({
          name: row.name,
          help: row.help,
          type: 'histogram',
          values: histogramValues(row),
        }),
      });
      return;
    default:
      row satisfies never;
  }
}

interface RenderedValue {
  readonly metricName: string;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly sharedLabels: Readonly<Record<string, string>>;
  readonly value: number;
}

function histogramValues(row: HistogramRow): RenderedValue[] {
  const values: RenderedValue[] = [];
  for (const [labels, latency] of row.samples()) {
    const sharedLabels = named(row, labels);
    const cumulative = latency.cumulative();
    for (const [index, value] of cumulative.entries()) {
      const le = LATENCY_BOUNDS[index] ?? '+Inf';
      values.push({ metricName: `${row.name}_bucket`, labels: { le }, sharedLabels, value });
    }
    values.push({ metricName: `${row.name}_sum`, labels: {}, sharedLabels, value: latency.sumSeconds() });
    values.push({ metricName: `${row.name}_count`, labels: {}, sharedLabels, value: cumulative.at(-1) ?? 0 });
  }
  return values;
}

function named(row: MetricRow, values: readonly string[]): Record<string, string> {
  return Object.fromEntries(row.labels.map((label, index) => [label, values[index] ?? '']));
}
