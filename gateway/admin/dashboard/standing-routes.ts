// What stands now, for the dashboard and whoever else would look: versions, their traffic, limits, upstreams.
// Rows of the admin listener's table that only show; what they hold is made of the plan, the metrics and the ledger.
import { standingOf } from '../../exchange/standing.ts';
import type { GatewayPlan, UpstreamPlan } from '../../plan/plan.ts';
import { stageOfApi } from '../../policy/lifecycle/api-life.ts';
import { assess } from '../../policy/lifecycle/assess.ts';
import { type AdminAnswer, instantText, jsonAnswer } from '../answers.ts';
import type { Readiness } from '../readiness.ts';
import type { AdminRequest, Page } from '../route.ts';
import { limitBodies } from './limits.ts';
import { type Reading, type Readings, trafficBody } from './traffic.ts';
import { versionBody } from './version-body.ts';
import { type VersionPagePorts, versionPage } from './version-page.ts';

export interface StandingPorts extends VersionPagePorts {
  readonly metrics: Readings;
  readonly readiness: () => Pick<Readiness, 'policies'>;
}

export function standingRoutes(ports: StandingPorts): readonly Page[] {
  const page = (path: string, show: (request: AdminRequest) => AdminAnswer | Promise<AdminAnswer>): Page => ({
    method: 'GET',
    path,
    show,
  });
  return [
    page('/-/versions', () => versionsAnswer(ports)),
    page('/-/versions/{api}/{version}', (request) => versionPage(ports, request)),
    page('/-/traffic', async () => told(ports, await trafficBody(ports.metrics))),
    page('/-/limits', async () => told(ports, { limits: await limitBodies(ports, ports.metrics) })),
    page('/-/upstreams', async () =>
      told(ports, { upstreams: await upstreamBodies(ports.plan(), ports.metrics) }),
    ),
  ];
}

function versionsAnswer(ports: StandingPorts): AdminAnswer {
  const plan = ports.plan();
  const moment = { now: ports.now(), overrides: ports.overrides.current() };
  const standing = [...standingOf(plan, moment)];
  const apis = plan.apis.map((api) => ({
    api: api.name,
    mode: api.mode,
    stage: stageOfApi(
      [...api.versions.values()].map((version) => assess(version, moment)),
      moment.now,
    ),
    versions: standing
      .filter(({ rules }) => rules.api === api.name)
      .map((each) => versionBody(api, each, moment.now)),
  }));
  const { quarantined, leftOut } = ports.readiness().policies;
  return told(ports, { revision: plan.revision, apis, quarantined, leftOut });
}

/** `now`: of the lifecycle clock, by which every date is meant. */
function told({ now }: StandingPorts, body: Readonly<Record<string, unknown>>): AdminAnswer {
  return jsonAnswer(200, { now: instantText(now()), ...body });
}

async function upstreamBodies(plan: GatewayPlan, metrics: Readings) {
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
