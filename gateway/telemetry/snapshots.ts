// What several processes have counted, made one: counters and histograms summed, gauges as each says.
// Snapshots come from exposition.ts of every worker and go between processes as they are.
import { AggregatorRegistry, type MetricObjectWithValues, type MetricValue, Registry } from 'prom-client';
import { showExemplars } from './exemplars.ts';
import type { PageType } from './page-type.ts';

export type MetricsSnapshot = readonly MetricObjectWithValues<MetricValue<string>>[];

/** prom-client's words: the first process speaks; none does. */
export const FIRST = 'first';
export const OMITTED = 'omit';

/** The page of all `snapshots`; the first is the primary's. */
export async function pageOf(snapshots: readonly MetricsSnapshot[], type: PageType): Promise<string> {
  if (type === Registry.PROMETHEUS_CONTENT_TYPE) return together(snapshots).metrics();
  const registry = together(snapshots.map(withFamilyNames));
  registry.setContentType(type);
  // The library adds up no exemplars, and prints what it has added up from these very objects.
  showExemplars(snapshots, await registry.getMetricsAsJSON());
  return registry.metrics();
}

/** OpenMetrics names a counter without the `_total` of its samples; the library puts that behind whatever name it is given. */
function withFamilyNames(metrics: MetricsSnapshot): MetricsSnapshot {
  return metrics.map((metric) =>
    String(metric.type) === 'counter' ? { ...metric, name: metric.name.replace(/_total$/, '') } : metric,
  );
}

/** Labels and value of each sample of the counter or gauge `name`, all `snapshots` together. */
export async function samplesOf(
  snapshots: readonly MetricsSnapshot[],
  name: string,
): Promise<readonly MetricValue<string>[]> {
  const all = await together(snapshots).getMetricsAsJSON();
  return all.find((metric) => metric.name === name)?.values ?? [];
}

/**
 * What of `snapshots` goes on counting once their processes have ended: without it a sum would fall, and Prometheus would
 * take that for a restart.
 */
export async function totalsOf(snapshots: readonly MetricsSnapshot[]): Promise<MetricsSnapshot> {
  const all = await together(snapshots).getMetricsAsJSON();
  return all.filter(goesOn);
}

/** About a millionth, and a power of two: numbers of so many grains make the very same sum in whatever order. */
const GRAIN = 2 ** -20;

function together(snapshots: readonly MetricsSnapshot[]): Registry<PageType> {
  const shown = snapshots.map((metrics) =>
    metrics.map((metric) => {
      if (metric.aggregator === OMITTED) return { ...metric, aggregator: FIRST };
      return goesOn(metric) && snapshots.length > 1 ? inGrains(metric) : metric;
    }),
  );
  return AggregatorRegistry.aggregate<PageType>(shown);
}

/** Who ends changes the order of what is added: a sum that is less by its last digit is a restart to Prometheus, too. */
function inGrains(metric: MetricsSnapshot[number]): MetricsSnapshot[number] {
  const values = metric.values.map((each) => ({ ...each, value: Math.round(each.value / GRAIN) * GRAIN }));
  return { ...metric, values };
}

/** The library names a type by a number in its types and by a word in its values. */
function goesOn({ type }: MetricsSnapshot[number]): boolean {
  return String(type) === 'counter' || String(type) === 'histogram';
}
