// What stands now, for the dashboard and whoever else would look: versions, their traffic, limits, upstreams.
// Rows of the admin listener's table that only show; what they hold is made of the plan, the metrics and the ledger.
import { standingOf } from '../../exchange/standing.ts';
import { stageOfApi } from '../../policy/lifecycle/api-life.ts';
import { assess } from '../../policy/lifecycle/assess.ts';
import { type AdminAnswer, instantText, jsonAnswer } from '../answers.ts';
import type { Readiness } from '../readiness.ts';
import type { AdminRequest, Page } from '../route.ts';
import { limitBodies } from './limits.ts';
import { type Readings, trafficBody } from './traffic.ts';
import { upstreamBodies } from './upstreams.ts';
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
