// Alert rules and the dashboard use only existing metrics and labels. test/prometheus runs the rules.
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { SHED_REASONS } from '../../gateway/plan/bounds.ts';
import { LATENCY_BOUNDS } from '../../gateway/telemetry/latency.ts';
import { metricRows } from '../../gateway/telemetry/metrics.ts';
import { createAnnouncementCounts } from '../../gateway/telemetry/reports/announcement-counts.ts';
import { createBoundsReport } from '../../gateway/telemetry/reports/bounds-report.ts';
import { createFreezeCounts } from '../../gateway/telemetry/reports/freeze-counts.ts';
import { createProcessState } from '../../gateway/telemetry/reports/process-state.ts';
import { createRetirementGauge } from '../../gateway/telemetry/reports/retirement-gauge.ts';
import { createTargetMetrics } from '../../gateway/telemetry/reports/target-metrics.ts';
import {
  AUTH_FAILURES,
  CODES,
  DECISIONS,
  RESOLUTIONS,
  RETIREMENTS,
  STAGES,
  UPSTREAM_OUTCOMES,
} from '../../gateway/telemetry/requests/request-labels.ts';
import { createRequestMetrics } from '../../gateway/telemetry/requests/request-metrics.ts';
import { createMetrics } from '../../upstreams/webhooks/metrics.ts';
import { openSqliteStore } from '../../upstreams/webhooks/sqlite/store.ts';
import { plan } from '../support/exchange-samples.ts';

const ROOT = new URL('../../', import.meta.url);
const ADDED = ['instance', 'job', 'cluster', 'le'];

const rows = metricRows({
  requests: createRequestMetrics(),
  state: createProcessState(() => 0),
  bounds: createBoundsReport(),
  targets: createTargetMetrics(() => 0),
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
  announcements: createAnnouncementCounts(),
  logLinesDropped: () => 0,
});
const store = openSqliteStore({ file: ':memory:', now: () => 0 });
const webhooksPage = await createMetrics(store, () => 0).text();
await store.close();
/** Names, labels and values of the webhooks service's series, all of which exist from the start. */
const webhooksSeries = Array.from(
  webhooksPage.matchAll(/^(\w+)(?:\{(.*)\})? \S+$/gm),
  ([, name = '', labels = '']) => [name, [...labels.matchAll(/(\w+)="([^"]*)"/g)]] as const,
);
const labelsOf = new Map<string, readonly string[]>([
  // Prometheus' own metric: whether a scrape succeeded.
  ['up', []],
  ...webhooksSeries.map(([name, labels]) => [name, labels.map(([, label = '']) => label)] as const),
  ...rows.flatMap(({ name, kind, labels }) =>
    kind === 'histogram'
      ? ['_bucket', '_sum', '_count'].map((suffix) => [`${name}${suffix}`, labels] as const)
      : [[name as string, labels] as const],
  ),
]);

interface Rule {
  readonly record?: string;
  readonly alert?: string;
  readonly expr: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

function valuesOf(label: string): readonly string[] {
  return webhooksSeries.flatMap(([, labels]) =>
    labels.flatMap(([, name, value = '']) => (name === label ? [value] : [])),
  );
}

/** The values of labels with a closed set. `reason` has another set in each metric. */
const VALUES: Readonly<Record<string, readonly string[]>> = {
  stage: STAGES,
  action: RETIREMENTS,
  decision: DECISIONS,
  outcome: [...RESOLUTIONS, ...UPSTREAM_OUTCOMES],
  code: CODES,
  reason: [...AUTH_FAILURES, ...SHED_REASONS],
  result: ['success', 'failure', 'sent', 'failed', 'refused', 'no_contact', ...valuesOf('result')],
  event: valuesOf('event'),
};
const matches = (pattern: string, value: string): boolean => new RegExp(`^(?:${pattern})$`).test(value);

interface RuleTest {
  readonly input_series: readonly { readonly series: string }[];
  readonly alert_rule_test?: readonly {
    readonly alertname: string;
    readonly exp_alerts: readonly unknown[];
  }[];
  readonly promql_expr_test?: readonly { readonly expr: string; readonly exp_samples: readonly unknown[] }[];
}

const text = (path: string) => readFile(new URL(path, ROOT), 'utf8');
const rules: readonly Rule[] = parse(await text('config/prometheus/rules/sundial.yml')).groups.flatMap(
  (group: { rules: readonly Rule[] }) => group.rules,
);
const ruleTests: readonly RuleTest[] = (
  await Promise.all(['rules', 'weeks'].map((name) => text(`test/prometheus/${name}.yml`)))
).flatMap((file) => parse(file).tests);
const alertTests = ruleTests.flatMap(({ alert_rule_test = [] }) => alert_rule_test);
const expressionTests = ruleTests.flatMap(({ promql_expr_test = [] }) => promql_expr_test);
const inputs = ruleTests.flatMap(({ input_series }) => input_series.map(({ series }) => series));
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

/** Stable for users: a changed name, type or label breaks their dashboards without an error. */
const PROMISED: Readonly<Record<string, string>> = {
  sundial_requests_total: 'counter api version stage method code',
  sundial_request_duration_seconds: 'histogram api version',
  sundial_upstream_duration_seconds: 'histogram api version upstream',
  sundial_upstream_requests_total: 'counter api version upstream outcome',
  sundial_upstream_retries_total: 'counter api version upstream',
  sundial_request_bytes_total: 'counter api version',
  sundial_response_bytes_total: 'counter api version',
  sundial_build_info: 'gauge version',
  sundial_config_restart_needed: 'gauge',
  sundial_deprecated_requests_total: 'counter api version consumer',
  sundial_deprecated_operation_requests_total: 'counter api version operation',
  sundial_retired_requests_total: 'counter api version action',
  sundial_version_info: 'gauge api version stage successor',
  sundial_version_deprecation_timestamp_seconds: 'gauge api version',
  sundial_version_sunset_timestamp_seconds: 'gauge api version',
  sundial_version_last_request_timestamp_seconds: 'gauge api version',
  sundial_version_resolutions_total: 'counter api carrier outcome',
  sundial_ratelimit_decisions_total: 'counter api version policy decision',
  sundial_auth_failures_total: 'counter api reason',
  sundial_upstream_up: 'gauge upstream target',
  sundial_store_up: 'gauge store',
  sundial_config_reloads_total: 'counter result',
  sundial_config_last_reload_successful: 'gauge',
  sundial_config_last_reload_success_timestamp_seconds: 'gauge',
  sundial_config_info: 'gauge hash',
  sundial_tls_certificate_expiry_timestamp_seconds: 'gauge sni',
  sundial_websocket_connections: 'gauge api version',
  sundial_metrics_series_dropped_total: 'counter metric',
};

describe('the metrics', () => {
  it('keep their stable names, types and labels', () => {
    const kept = rows.filter(({ name }) => PROMISED[name] !== undefined);
    expect(
      Object.fromEntries(kept.map(({ name, kind, labels }) => [name, [kind, ...labels].join(' ')])),
    ).toEqual(PROMISED);
  });

  it('count the deliveries of webhooks by event and result', () => {
    expect(labelsOf.get('sundial_webhook_deliveries_total')).toEqual(['event', 'result']);
    expect(webhooksPage).toContain('# TYPE sundial_webhook_deliveries_total counter');
    expect(new Set(valuesOf('result'))).toEqual(new Set(['delivered', 'retried', 'exhausted']));
  });

  it('have one metric with a consumer label, and none with a label from a URL', () => {
    const having = (label: string) => rows.filter(({ labels }) => labels.includes(label));
    expect(having('consumer').map(({ name }) => name)).toEqual(['sundial_deprecated_requests_total']);
    for (const label of ['path', 'url', 'host', 'query', 'user_agent', 'client'])
      expect(having(label)).toEqual([]);
  });

  it('have names with their type and unit, and a sentence as help', () => {
    for (const { name, kind, help } of rows) {
      expect([name, name.endsWith('_total')]).toEqual([name, kind === 'counter']);
      if (kind === 'histogram') expect(name).toMatch(/_seconds$/);
      expect(help, name).toMatch(/^[A-Z].*\.$/);
    }
    expect(LATENCY_BOUNDS).toHaveLength(13);
  });
});

describe('the alert rules and the dashboard', () => {
  it.each(expressions)('%s uses existing metrics and labels', (_where, expr) => {
    const asked = [...expr.matchAll(/\b(sundial_\w+|up(?=\{))(?:\{([^}]*)\})?/g)];
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

  it.each(['retirement_ready', 'retirement_held'])('the dashboard shows %s of each version', (metric) => {
    expect(expressions.some(([, expr]) => expr.includes(`(sundial_version_${metric}{`))).toBe(true);
  });

  it.each(rules.filter(({ alert }) => alert !== undefined))(
    '$alert has a summary, and uses only labels that its expression keeps',
    ({ expr, annotations = {} }) => {
      expect(annotations.summary).toBeTruthy();
      const kept = expr.matchAll(/\bby \(([^)]*)\)/g).flatMap(([, list = '']) => list.split(/,\s*/));
      const kepts = [...kept, 'instance', 'job', 'upstream', 'sni', 'store'];
      for (const [, label] of Object.values(annotations)
        .join(' ')
        .matchAll(/\$labels\.(\w+)/g))
        expect(kepts).toContain(label);
    },
  );

  it.each(expressions)('%s uses values that its labels have', (_where, expr) => {
    for (const [, label = '', operator = '', value = ''] of expr.matchAll(/(\w+)\s*([=!]~?=?)"([^"]*)"/g)) {
      const known = VALUES[label];
      if (known === undefined || value.startsWith('$')) continue;
      const matching = operator.includes('~') ? known.filter((each) => matches(value, each)) : [value];
      expect(known, `${label}${operator}"${value}"`).toEqual(expect.arrayContaining(matching));
      expect(matching, `${label}${operator}"${value}"`).not.toEqual([]);
    }
  });

  it('each alert has a test that fires it and a test that does not', () => {
    const shown = (alert: string) => alertTests.filter(({ alertname }) => alertname === alert);
    for (const { alert } of rules) {
      if (alert === undefined) continue;
      expect(
        shown(alert).some(({ exp_alerts }) => exp_alerts.length > 0),
        `${alert} at work`,
      ).toBe(true);
      expect(
        shown(alert).some(({ exp_alerts }) => exp_alerts.length === 0),
        `${alert} at rest`,
      ).toBe(true);
    }
  });

  it('each recording rule has a test with samples and a test without', () => {
    for (const { record } of rules) {
      if (record === undefined) continue;
      const asked = expressionTests.filter(({ expr }) => expr.includes(record));
      for (const some of [true, false])
        expect(
          asked.some(({ exp_samples }) => exp_samples.length > 0 === some),
          record,
        ).toBe(true);
    }
  });

  it('are tested with series that the gateway has', () => {
    expect(inputs.length).toBeGreaterThan(30);
    for (const series of inputs) {
      const [, name = '', selector = ''] = /^(\w+)\{([^}]*)\}$/.exec(series) ?? [];
      const labels = labelsOf.get(name);
      expect(labels, series).toBeDefined();
      for (const [, label = '', value = ''] of selector.matchAll(/(\w+)="([^"]*)"/g)) {
        expect([...(labels ?? []), ...ADDED], series).toContain(label);
        if (VALUES[label] !== undefined) expect(VALUES[label], series).toContain(value);
      }
    }
  });
});
