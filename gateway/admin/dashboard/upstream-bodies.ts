// Body of `/-/upstreams`: each upstream of the plan with its targets, their state and their recent calls.
import type { GatewayPlan, UpstreamPlan } from '../../plan/plan.ts';
import type { Exposition, MetricReading } from '../../telemetry/exposition.ts';
import { instantText } from '../answers.ts';

export type MetricReader = Pick<Exposition, 'read'>;

export async function upstreamBodies(plan: GatewayPlan, metrics: MetricReader) {
  const up = await metrics.read('sundial_upstream_up');
  const ejections = await metrics.read('sundial_upstream_ejections_total');
  const recent = await recentReadings(metrics);
  const used = new Map<string, { readonly upstream: UpstreamPlan; readonly versions: object[] }>();
  for (const { name: api, versions } of plan.apis) {
    for (const { label: version, upstream } of versions.values()) {
      if (upstream === undefined) continue;
      const entry = used.getOrInsertComputed(upstream.name, () => ({ upstream, versions: [] }));
      entry.versions.push({ api, version });
    }
  }
  return [...used.values()].map(({ upstream, versions }) => ({
    upstream: upstream.name,
    versions,
    balance: upstream.balance,
    health: upstream.health ?? null,
    breaker: upstream.breaker ?? null,
    timeouts: upstream.timeouts,
    targets: upstream.targets.map(({ origin }) => {
      const its = ({ labels }: MetricReading) =>
        labels.upstream === upstream.name && labels.target === origin;
      const [states] = up.filter(its);
      return {
        target: origin,
        /** Null without health checks and without a breaker. */
        up: states === undefined ? null : states.value === 1,
        ejections: ejections
          .filter(its)
          .map(({ labels, value }) => ({ by: String(labels.reason), count: value }))
          .filter(({ count }) => count > 0),
        ...recentBody(recent, its),
      };
    }),
  }));
}

const LEAST_FAILURES = 5;
const LEAST_SHARE = 0.5;

async function recentReadings({ read }: MetricReader) {
  return {
    calls: await read('sundial_upstream_recent_calls'),
    since: await read('sundial_upstream_failing_since_timestamp_seconds'),
    last: await read('sundial_upstream_last_failure_timestamp_seconds'),
  };
}

/** `failing`: in the last 60 seconds 5 or more calls failed, and half of all. The target stays in service. */
function recentBody(
  { calls, since, last }: Awaited<ReturnType<typeof recentReadings>>,
  isOfTarget: (reading: MetricReading) => boolean,
) {
  const own = calls.filter(isOfTarget);
  const failed = sumOf(own.filter(({ labels }) => labels.result === 'failure'));
  const total = sumOf(own);
  const share = total === 0 ? 0 : failed / total;
  const latest = last.filter(isOfTarget).toSorted((one, other) => other.value - one.value)[0];
  const from = since.find(isOfTarget);
  const isFailing = failed >= LEAST_FAILURES && share >= LEAST_SHARE;
  return {
    recent: { calls: total, failed },
    failing: isFailing
      ? {
          /** By the real clock. */
          since: from === undefined ? null : instantText(from.value * 1000),
          share,
          error: latest === undefined ? null : String(latest.labels.error),
        }
      : null,
  };
}

export function sumOf(readings: readonly MetricReading[]): number {
  return readings.reduce((sum, { value }) => sum + value, 0);
}
