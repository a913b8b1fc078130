// The upstreams of the plan with their targets: what watches them, which are in service, how often one was taken out.
// Made for standing-routes.ts; whether a target is up is read where /metrics reads it.
import type { GatewayPlan, UpstreamPlan } from '../../plan/plan.ts';
import type { Reading, Readings } from './traffic.ts';

export async function upstreamBodies(plan: GatewayPlan, metrics: Readings) {
  const up = await metrics.read('sundial_upstream_up');
  const ejections = await metrics.read('sundial_upstream_ejections_total');
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
      const its = ({ labels }: Reading) => labels.upstream === upstream.name && labels.target === origin;
      const [standing] = up.filter(its);
      return {
        target: origin,
        /** Null: nothing watches it. */
        up: standing === undefined ? null : standing.value === 1,
        ejections: ejections
          .filter(its)
          .map(({ labels, value }) => ({ by: String(labels.reason), count: value }))
          .filter(({ count }) => count > 0),
      };
    }),
  }));
}
