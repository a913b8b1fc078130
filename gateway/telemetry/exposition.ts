// Renders the metrics page as plain text or OpenMetrics, with prom-client, at each scrape.
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { LATENCY_BOUNDS } from './latency.ts';
import type { HistogramRow, MetricRow, WorkerAggregation } from './series.ts';
import {
  type MetricsSnapshot,
  OMITTED,
  type PageType,
  PRIMARY_ONLY,
  pageOf,
  pageTypeFor,
  type RenderedExemplar,
  renderedExemplar,
  samplesOf,
} from './snapshots.ts';

export interface MetricsPage {
  readonly contentType: string;
  readonly body: string;
}

export interface MetricReading {
  readonly labels: Readonly<Partial<Record<string, string | number>>>;
  readonly value: number;
}

export interface Exposition {
  readonly render: (accept?: string) => Promise<MetricsPage>;
  /** The samples of one counter or gauge. Empty for an unknown name. */
  readonly read: (name: string) => Promise<readonly MetricReading[]>;
  /** Without the rows that only the primary process exports. */
  readonly snapshot: () => Promise<MetricsSnapshot>;
}

/** Gauges whose names end in _total, which `promtool check metrics` refuses. */
const MISNAMED = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
];

const AGGREGATORS = { sum: 'sum', max: 'max', min: 'min', primary: PRIMARY_ONLY } as const satisfies Record<
  WorkerAggregation,
  string
>;

/** `prepare`: called before each read. `workers`: the snapshots of the workers, which are added to the own values. */
export function createExposition(
  rows: readonly MetricRow[],
  prepare: () => void,
  workers?: () => Promise<readonly MetricsSnapshot[]>,
): Exposition {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  for (const name of MISNAMED) registry.removeSingleMetric(name);
  for (const row of rows) register(registry, row);
  const page = async (type: PageType): Promise<string> => {
    prepare();
    if (workers === undefined && type === registry.contentType) return registry.metrics();
    const [own, theirs = []] = await Promise.all([registry.getMetricsAsJSON(), workers?.()]);
    return pageOf([own, ...theirs], type);
  };
  return {
    render: async (accept) => {
      const contentType = pageTypeFor(accept);
      return { contentType, body: await page(contentType) };
    },
    read: async (name) => {
      prepare();
      const own = await registry.getSingleMetric(name)?.get();
      if (own === undefined || workers === undefined) return own?.values ?? [];
      const theirs = (await workers()).map((metrics) => metrics.filter((metric) => metric.name === name));
      return samplesOf([[own], ...theirs], name);
    },
    snapshot: async () => {
      prepare();
      const metrics = await registry.getMetricsAsJSON();
      return metrics.filter(({ aggregator }) => aggregator !== PRIMARY_ONLY && aggregator !== OMITTED);
    },
  };
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
        aggregator: AGGREGATORS[row.across],
        collect() {
          this.reset();
          for (const [labels, value] of row.samples()) this.set(named(row, labels), value);
        },
      });
      return;
    case 'histogram': {
      // prom-client can only observe single values, so its renderer gets complete buckets instead.
      const finished = async () => ({
        name: row.name,
        help: row.help,
        type: 'histogram',
        aggregator: 'sum',
        values: histogramValues(row),
      });
      Object.assign(new Histogram({ ...shape, buckets: [...LATENCY_BOUNDS] }), {
        getForPromString: finished,
        get: finished,
      });
      return;
    }
    default:
      row satisfies never;
  }
}

interface RenderedValue {
  readonly metricName: string;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
  /** Only printed in OpenMetrics. */
  readonly exemplar?: RenderedExemplar;
}

function histogramValues(row: HistogramRow): RenderedValue[] {
  const values: RenderedValue[] = [];
  for (const [labels, latency] of row.samples()) {
    const shared = named(row, labels);
    const cumulative = latency.cumulative();
    for (const [index, value] of cumulative.entries()) {
      const le = LATENCY_BOUNDS[index] ?? '+Inf';
      const exemplar = latency.exemplars[index];
      values.push({
        metricName: `${row.name}_bucket`,
        labels: { le, ...shared },
        value,
        ...(exemplar === undefined ? {} : { exemplar: renderedExemplar(exemplar) }),
      });
    }
    values.push({ metricName: `${row.name}_sum`, labels: shared, value: latency.sumSeconds() });
    values.push({ metricName: `${row.name}_count`, labels: shared, value: cumulative.at(-1) ?? 0 });
  }
  return values;
}

function named(row: MetricRow, values: readonly string[]): Record<string, string> {
  return Object.fromEntries(row.labels.map((label, index) => [label, values[index] ?? '']));
}
