// In which of its two forms the metrics page is given: the plain text of Prometheus, or OpenMetrics, which shows exemplars.
// Asked by exposition.ts with what the scraper accepts.
import { Registry } from 'prom-client';

const { PROMETHEUS_CONTENT_TYPE: PLAIN, OPENMETRICS_CONTENT_TYPE: OPEN } = Registry;

export type PageType = typeof PLAIN | typeof OPEN;

const VERSIONS = ['0.0.1', '1.0.0'];

/** OpenMetrics where it is named and wanted no less than plain text (RFC 9110 section 12.5.1); plain text for anybody else. */
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
