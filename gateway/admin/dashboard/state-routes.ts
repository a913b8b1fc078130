// Routes for the current state: versions, their traffic, limits, upstreams.
import { versionStates } from '../../exchange/version-states.ts';
import type { GatewayPlan, VersionRules } from '../../plan/plan.ts';
import type { EpochMs } from '../../policy/contract.ts';
import { stageOfApi } from '../../policy/lifecycle/api-life.ts';
import { assess } from '../../policy/lifecycle/assess.ts';
import type { OverrideStore } from '../../policy/lifecycle/override.ts';
import { phaseAt } from '../../policy/lifecycle/phases.ts';
import type { Limit, LimitRule } from '../../policy/rate-limit/limit.ts';
import { loweredAt } from '../../policy/rate-limit/lowering.ts';
import { type AdminAnswer, instantText, jsonAnswer } from '../answers.ts';
import type { Readiness } from '../readiness.ts';
import type { AdminPage, AdminRequest } from '../route.ts';
import { type MetricReader, sumOf, upstreamBodies } from './upstream-bodies.ts';
import { versionBody } from './version-body.ts';
import { type VersionPagePorts, versionPage } from './version-page.ts';

export interface StateRoutePorts extends VersionPagePorts {
  readonly readiness: () => Pick<Readiness, 'policies'>;
  /** The dashboard warns of sunsets within this many days: the first step of `notify.before_sunset`. */
  readonly noticeDays: number | undefined;
}

/** The first step of `before_sunset` by default. */
const NOTICE_DAYS = 90;

export function stateRoutes(ports: StateRoutePorts): readonly AdminPage[] {
  const page = (
    path: string,
    show: (request: AdminRequest) => AdminAnswer | Promise<AdminAnswer>,
  ): AdminPage => ({
    method: 'GET',
    path,
    show,
  });
  return [
    page('/-/versions', () => versionsAnswer(ports)),
    page('/-/versions/{api}/{version}', (request) => versionPage(ports, request)),
    page('/-/traffic', async () => datedAnswer(ports, await trafficBody(ports.metrics))),
    page('/-/limits', async () => datedAnswer(ports, { limits: await limitBodies(ports, ports.metrics) })),
    page('/-/upstreams', async () =>
      datedAnswer(ports, { upstreams: await upstreamBodies(ports.plan(), ports.metrics) }),
    ),
  ];
}

function versionsAnswer(ports: StateRoutePorts): AdminAnswer {
  const { noticeDays = NOTICE_DAYS } = ports;
  const plan = ports.plan();
  const moment = { now: ports.now(), overrides: ports.overrides.current() };
  const states = [...versionStates(plan, moment)];
  const apis = plan.apis.map((api) => ({
    api: api.name,
    mode: api.mode,
    stage: stageOfApi(
      [...api.versions.values()].map((version) => assess(version, moment)),
      moment.now,
    ),
    versions: states
      .filter(({ rules }) => rules.api === api.name)
      .map((each) => versionBody(api, each, moment.now)),
  }));
  const { quarantined, leftOut } = ports.readiness().policies;
  return datedAnswer(ports, { revision: plan.revision, noticeDays, apis, quarantined, leftOut });
}

/** `now` is the lifecycle clock. */
function datedAnswer({ now }: StateRoutePorts, body: Readonly<Record<string, unknown>>): AdminAnswer {
  return jsonAnswer(200, { now: instantText(now()), ...body });
}

interface LimitPorts {
  readonly plan: () => GatewayPlan;
  readonly now: () => EpochMs;
  readonly overrides: Pick<OverrideStore, 'current'>;
}

const DECISIONS = ['allowed', 'limited', 'shadow_limited', 'degraded'] as const;

async function limitBodies({ plan, now, overrides }: LimitPorts, metrics: MetricReader) {
  const at = now();
  const decisions = await metrics.read('sundial_ratelimit_decisions_total');
  const states = versionStates(plan(), { now: at, overrides: overrides.current() });
  return [...states].flatMap(({ rules }) =>
    [rules, ...(rules.operations?.list ?? [])].flatMap((each) =>
      (each.limits?.each ?? [])
        .filter((rule) => each === rules || !hasBucketOf(rules, rule))
        .map((rule) => {
          const body = limitBody(each, rule, at);
          const counted = decisions.filter(
            ({ labels }) =>
              labels.api === rules.api && labels.version === rules.label && labels.policy === body.limit,
          );
          const become = DECISIONS.map((kind) => [
            kind,
            sumOf(counted.filter(({ labels }) => labels.decision === kind)),
          ]);
          return { ...body, decisions: Object.fromEntries(become) };
        }),
    ),
  );
}

/** An operation without limits of its own shares the buckets of its version. */
function hasBucketOf({ limits }: VersionRules, { buckets }: LimitRule): boolean {
  return limits?.each.some((rule) => rule.buckets.active === buckets.active) ?? false;
}

function limitBody(rules: VersionRules, rule: LimitRule, now: EpochMs) {
  const { stage } = phaseAt(rules.phases, now);
  const isFull = stage === 'active' || stage === 'planned';
  const inForce = isFull ? rule.active : loweredAt(rule, now);
  return {
    api: rules.api,
    version: rules.label,
    operation: rules.operation ?? null,
    stage,
    limit: inForce.name,
    ...figures(inForce),
    /** The limit before the deprecation. Null if it is the same. */
    full: isFull || inForce.units === rule.active.units ? null : figures(rule.active),
    falls: rule.curve !== undefined,
    by: rule.by,
    cost: rules.limits?.cost ?? 1,
    onStoreFailure: rule.onStoreFailure,
    exact: rule.exact,
    shadow: rule.shadow,
  };
}

function figures({ units, windowMs, burst }: Limit) {
  return { units, windowMs, burst };
}

/** The stage label of requests that matched no version. */
const NONE = 'none';

/** Requests by version since this gateway started, and the share of deprecated versions. */
async function trafficBody(metrics: MetricReader) {
  const requests = await metrics.read('sundial_requests_total');
  const last = await metrics.read('sundial_version_last_request_timestamp_seconds');
  const versions = Map.groupBy(
    requests.filter(({ labels, value }) => text(labels.stage) !== NONE && value > 0),
    ({ labels }) => JSON.stringify([text(labels.api), text(labels.version)]),
  );
  const each = [...versions.values()].map((counts) => {
    const api = text(counts[0]?.labels.api);
    const version = text(counts[0]?.labels.version);
    const lastAt = last.find(({ labels }) => labels.api === api && labels.version === version)?.value;
    return {
      api,
      version,
      requests: sumOf(counts),
      deprecated: sumOf(counts.filter(({ labels }) => labels.stage === 'deprecated')),
      errors: sumOf(counts.filter(({ labels }) => text(labels.code).startsWith('5'))),
      /** Unix time in seconds, by the real clock. */
      lastRequest: lastAt ?? null,
    };
  });
  const total = each.reduce((sum, { requests }) => sum + requests, 0);
  const deprecated = each.reduce((sum, version) => sum + version.deprecated, 0);
  /** Null before the first request. */
  const share = total === 0 ? null : deprecated / total;
  return { requests: total, deprecated, share, unresolved: sumOf(requests) - total, versions: each };
}

function text(label: string | number | undefined): string {
  return String(label ?? NONE);
}
