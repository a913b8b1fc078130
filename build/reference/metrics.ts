// The page of metrics, from the rows that a gateway exposes.
import type { GatewayPlan } from '../../gateway/plan/plan.ts';
import { metricRows } from '../../gateway/telemetry/metrics.ts';
import { createAnnouncementCounts } from '../../gateway/telemetry/reports/announcement-counts.ts';
import { createBoundsReport } from '../../gateway/telemetry/reports/bounds-report.ts';
import { createFreezeCounts } from '../../gateway/telemetry/reports/freeze-counts.ts';
import { createProcessState } from '../../gateway/telemetry/reports/process-state.ts';
import { createRetirementGauge } from '../../gateway/telemetry/reports/retirement-gauge.ts';
import { createTargetMetrics } from '../../gateway/telemetry/reports/target-metrics.ts';
import { createRequestMetrics } from '../../gateway/telemetry/requests/request-metrics.ts';
import { code, type Page, pageOf, tableOf } from './markdown.ts';

export function metricPages(): readonly Page[] {
  const zero = () => 0;
  const rows = metricRows({
    requests: createRequestMetrics(),
    state: createProcessState(zero),
    bounds: createBoundsReport(),
    targets: createTargetMetrics(zero),
    // Only metric values need a plan.
    plan: () => ({}) as GatewayPlan,
    now: zero,
    overrides: () => [],
    wallClock: zero,
    ledger: { counted: zero, dropped: zero, pending: zero, flushes: () => ({ success: 0, failure: 0 }) },
    freezes: createFreezeCounts(),
    retirements: createRetirementGauge(),
    announcements: createAnnouncementCounts(),
    logLinesDropped: zero,
  });
  const described = rows
    .map(({ name, kind, labels, help }) => [code(name), kind, labels.map(code).join(', '), help])
    .sort(([one = ''], [other = '']) => (one < other ? -1 : 1));
  return [
    pageOf(
      'metrics.md',
      'Metrics',
      [
        'Find each metric with its type, its labels and what it counts.',
        '',
        '`/metrics` of the admin and the metrics listener has all of them, and the usual `process_*` and `nodejs_*` metrics of Node.',
        'Counters that a policy makes possible are 0 from the start, so that `rate()` sees the first call.',
        '[Monitor](../operate/monitor.md) explains the values of the labels.',
      ],
      [tableOf(['metric', 'type', 'labels', 'meaning'], described)],
    ),
  ];
}
