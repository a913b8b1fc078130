// Merges the metrics of several processes: sums counters and histograms, aggregates gauges, keeps latest exemplars.
import { AggregatorRegistry, type MetricObjectWithValues, type MetricValue, Registry } from 'prom-client';
import type { Exemplar } from './latency.ts';

export type MetricsSnapshot = readonly MetricObjectWithValues<MetricValue<string>>[];

/** prom-client's names: the value of the first process, and no value. */
export const PRIMARY_ONLY = 'first';
export const OMITTED = 'omit';

/** The page of all `snapshots`. The first is that of the primary process. */
export async function pageOf(snapshots: readonly MetricsSnapshot[], type: PageType): Promise<string> {
  if (type === Registry.PROMETHEUS_CONTENT_TYPE) return aggregate(snapshots).metrics();
  const registry = aggregate(snapshots.map(withFamilyNames));
  registry.setContentType(type);
  // prom-client merges no exemplars. It prints these same objects, so the exemplars are added to them.
  showExemplars(snapshots, await registry.getMetricsAsJSON());
  return registry.metrics();
}

/** OpenMetrics names a counter without `_total`. prom-client adds `_total` to any name. */
function withFamilyNames(metrics: MetricsSnapshot): MetricsSnapshot {
  return metrics.map((metric) =>
    String(metric.type) === 'counter' ? { ...metric, name: metric.name.replace(/_total$/, '') } : metric,
  );
}

export async function samplesOf(
  snapshots: readonly MetricsSnapshot[],
  name: string,
): Promise<readonly MetricValue<string>[]> {
  const all = await aggregate(snapshots).getMetricsAsJSON();
  return all.find((metric) => metric.name === name)?.values ?? [];
}

/** The totals of processes that have ended. Without them a sum would fall, which Prometheus takes for a restart. */
export async function totalsOf(snapshots: readonly MetricsSnapshot[]): Promise<MetricsSnapshot> {
  const all = await aggregate(snapshots).getMetricsAsJSON();
  return all.filter(continues);
}

/** About a millionth, as a power of two: sums of multiples are exact, in any order. */
const ROUNDING_UNIT = 2 ** -20;

function aggregate(snapshots: readonly MetricsSnapshot[]): Registry<PageType> {
  const shown = snapshots.map((metrics) =>
    metrics.map((metric) => {
      if (metric.aggregator === OMITTED) return { ...metric, aggregator: PRIMARY_ONLY };
      return continues(metric) && snapshots.length > 1 ? inRoundingUnits(metric) : metric;
    }),
  );
  return AggregatorRegistry.aggregate<PageType>(shown);
}

/** The order of the processes changes a sum's last digits. Prometheus takes any decrease for a restart. */
function inRoundingUnits(metric: MetricsSnapshot[number]): MetricsSnapshot[number] {
  const values = metric.values.map((each) => ({
    ...each,
    value: Math.round(each.value / ROUNDING_UNIT) * ROUNDING_UNIT,
  }));
  return { ...metric, values };
}

/** prom-client's types declare `type` as a number, but its values are words. */
function continues({ type }: MetricsSnapshot[number]): boolean {
  return String(type) === 'counter' || String(type) === 'histogram';
}

const { PROMETHEUS_CONTENT_TYPE: PLAIN, OPENMETRICS_CONTENT_TYPE: OPEN } = Registry;

export type PageType = typeof PLAIN | typeof OPEN;

const VERSIONS = ['0.0.1', '1.0.0'];

/** OpenMetrics if Accept lists it and does not prefer plain text (RFC 9110 §12.5.1). Otherwise plain text. */
export function pageTypeFor(accept: string | undefined): PageType {
  let [open, plain] = [0, 0];
  for (const range of accept?.split(',') ?? []) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    const named = new Map(parameters.map((parameter) => pairOf(parameter)));
    const weight = Number(named.get('q') ?? 1);
    const version = named.get('version');
    if (type === 'text/plain') plain = Math.max(plain, weight);
    if (type === 'application/openmetrics-text' && (version === undefined || VERSIONS.includes(version)))
      open = Math.max(open, weight);
  }
  return open > 0 && open >= plain ? OPEN : PLAIN;
}

function pairOf(parameter: string): readonly [name: string, value: string] {
  const [name = '', value = ''] = parameter.split('=', 2);
  return [name.trim(), value.trim().replaceAll('"', '')];
}

/** In prom-client's format. `timestamp`: seconds. */
export interface RenderedExemplar {
  readonly labelSet: Readonly<Record<string, string>>;
  readonly value: number;
  readonly timestamp: number;
}

/** A sample in a snapshot, with members that prom-client's types lack. */
type RenderedSample = MetricValue<string> & {
  readonly metricName?: string;
  /** Null in prom-client's own histograms. */
  readonly exemplar?: RenderedExemplar | null;
};

export function renderedExemplar({ traceId, seconds, at }: Exemplar): RenderedExemplar {
  return { labelSet: { trace_id: traceId }, value: seconds, timestamp: at / 1000 };
}

function showExemplars(snapshots: readonly MetricsSnapshot[], page: MetricsSnapshot): void {
  const latest = new Map<string, RenderedExemplar>();
  for (const sample of histogramSamples(snapshots)) {
    const { exemplar = null } = sample;
    if (exemplar === null) continue;
    const key = keyOf(sample);
    if (exemplar.timestamp >= (latest.get(key)?.timestamp ?? 0)) latest.set(key, exemplar);
  }
  if (latest.size === 0) return;
  for (const sample of histogramSamples([page]))
    Object.assign(sample, { exemplar: latest.get(keyOf(sample)) });
}

function* histogramSamples(snapshots: readonly MetricsSnapshot[]): Iterable<RenderedSample> {
  for (const metrics of snapshots)
    for (const { type, values } of metrics) if (String(type) === 'histogram') yield* values;
}

function keyOf({ metricName, labels }: RenderedSample): string {
  return `${metricName} ${JSON.stringify(labels)}`;
}
