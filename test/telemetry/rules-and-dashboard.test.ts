// The alert rules and the dashboard ask for metrics that the gateway has, by labels that these have.
// What the rules do is shown by promtool (test/prometheus), where it is installed.
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { createBoundsReport } from '../../gateway/telemetry/bounds-report.ts';
import { createFreezeCounts } from '../../gateway/telemetry/freeze-counts.ts';
import { metricRows } from '../../gateway/telemetry/metrics.ts';
import { createProcessState } from '../../gateway/telemetry/process-state.ts';
import { createRequestMetrics } from '../../gateway/telemetry/request-metrics.ts';
import { createRetirementGauge } from '../../gateway/telemetry/retirement-gauge.ts';
import { createTargetMetrics } from '../../gateway/telemetry/target-metrics.ts';
import { plan } from '../support/exchange-samples.ts';

const ROOT = new URL('../../', import.meta.url);
/** What Prometheus adds. */
const ADDED = ['instance', 'job', 'le'];

const rows = metricRows({
  requests: createRequestMetrics(),
  state: createProcessState(() => 0),
  bounds: createBoundsReport(),
  targets: createTargetMetrics(),
  plan: () => plan(),
  now: () => 0,
  overrides: () => [],
  wallClock: () => 0,
  ledger: {
    counted: () => 0,
    dropped: () => 0,
    pending: () => 0,
    flushes: () => ({ success: 0, failure: 0 }),
  },
  freezes: createFreezeCounts(),
  retirements: createRetirementGauge(),
  logLinesDropped: () => 0,
});
const labelsOf = new Map(
  rows.flatMap(({ name, kind, labels }) =>
    kind === 'histogram'
      ? ['_bucket', '_sum', '_count'].map((suffix) => [`${name}${suffix}`, labels] as const)
      : [[name as string, labels] as const],
  ),
);

interface Rule {
  readonly record?: string;
  readonly alert?: string;
  readonly expr: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

const text = (path: string) => readFile(new URL(path, ROOT), 'utf8');
const rules: readonly Rule[] = parse(await text('config/prometheus/rules/sundial.yml')).groups.flatMap(
  (group: { rules: readonly Rule[] }) => group.rules,
);
const dashboard = JSON.parse(await text('config/grafana/dashboards/sundial.json'));

const expressions: readonly (readonly [where: string, expr: string])[] = [
  ...rules.map(({ alert, record, expr }) => [alert ?? record ?? '', expr] as const),
  ...dashboard.panels.flatMap((panel: { title: string; targets: readonly { expr: string }[] }) =>
    panel.targets.map(({ expr }) => [panel.title, expr] as const),
  ),
  ...dashboard.annotations.list.map(
    ({ name, expr }: { name: string; expr: string }) => [name, expr] as const,
  ),
  ...dashboard.templating.list.map(
    ({ name, definition }: { name: string; definition: string }) => [name, definition] as const,
  ),
];

describe('the alert rules and the dashboard', () => {
  it.each(expressions)('%s asks for what the gateway measures', (_where, expr) => {
    const asked = [...expr.matchAll(/\b(sundial_\w+)(?:\{([^}]*)\})?/g)];
    const recorded = rules.filter(({ record }) => record !== undefined && expr.includes(record));
    expect(asked.length + recorded.length).toBeGreaterThan(0);
    const known = new Set(ADDED);
    for (const [, name = '', selector = ''] of asked) {
      const labels = labelsOf.get(name);
      expect(labels, name).toBeDefined();
      for (const label of labels ?? []) known.add(label);
      for (const [, label] of selector.matchAll(/(\w+)\s*[=!]~?=?"/g))
        expect([...(labels ?? []), ...ADDED], `${name}{${label}}`).toContain(label);
    }
    for (const { expr: source } of recorded)
      for (const [, name = ''] of source.matchAll(/\b(sundial_\w+)/g))
        for (const label of labelsOf.get(name) ?? []) known.add(label);
    for (const [, list = ''] of expr.matchAll(/\b(?:by|on) \(([^)]*)\)/g))
      for (const label of list.split(/,\s*/)) expect([...known], `by ${label}`).toContain(label);
  });

  it.each(['retirement_ready', 'retirement_held'])('the dashboard says of each version its %s', (metric) => {
    expect(expressions.some(([, expr]) => expr.includes(`(sundial_version_${metric}{`))).toBe(true);
  });

  it.each(rules.filter(({ alert }) => alert !== undefined))(
    '$alert says in a sentence what is wrong, with labels that its expression keeps',
    ({ expr, annotations = {} }) => {
      expect(annotations.summary).toBeTruthy();
      const kept = expr.matchAll(/\bby \(([^)]*)\)/g).flatMap(([, list = '']) => list.split(/,\s*/));
      const kepts = [...kept, 'instance', 'upstream', 'sni', 'store'];
      for (const [, label] of Object.values(annotations)
        .join(' ')
        .matchAll(/\$labels\.(\w+)/g))
        expect(kepts).toContain(label);
    },
  );

  it('has a test for each alert', async () => {
    const tested = `${await text('test/prometheus/rules.yml')}${await text('test/prometheus/weeks.yml')}`;
    for (const { alert } of rules)
      if (alert !== undefined) expect(tested).toMatch(new RegExp(`alertname: ${alert}\\b[^]*exp_labels`));
  });
});
