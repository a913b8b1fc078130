// The metrics page: what an answer moves, what stays bounded, and what is read from plan and clocks at scrape.
import { describe, expect, it } from 'vitest';
import type { RefusalReason } from '../../gateway/exchange/directive.ts';
import type { ExchangeFacts } from '../../gateway/exchange/facts.ts';
import { createOperationTable } from '../../gateway/plan/operation-table.ts';
import type { ApiPlan, VersionRules } from '../../gateway/plan/plan.ts';
import type { LimitRule } from '../../gateway/policy/rate-limit/limit.ts';
import {
  ACCESS,
  api,
  deprecatedFacts,
  NOW,
  plan,
  RULE,
  upstream,
  version,
} from '../support/exchange-samples.ts';
import { harness, outcome, WALL } from './telemetry-harness.ts';

const limit = { name: 'deprecated', units: 60, windowMs: 60_000, burst: 60 };
const orders = 'api="orders",version="v1"';

function consumer(id: string, named = true) {
  return { id, named, via: 'token' as const, scopes: new Set<string>(), claims: {} };
}

function unrouted(): ExchangeFacts {
  const nothing = {
    api: undefined,
    version: undefined,
    carrier: undefined,
    phase: undefined,
  };
  return { ...deprecatedFacts(), ...nothing, quotas: undefined };
}

function unresolved(refusal: RefusalReason): ExchangeFacts {
  return { ...unrouted(), api: api(), refusal };
}

describe('request metrics', () => {
  it('count an answer by API, version, stage, method and code', async () => {
    const { telemetry, series } = harness();
    telemetry.observer.onAnswer(deprecatedFacts(), outcome());
    telemetry.observer.onAnswer(deprecatedFacts(), outcome());
    telemetry.observer.onAnswer(deprecatedFacts(), outcome({ method: 'POST', status: 429 }));
    expect(await series('sundial_requests_total')).toEqual({
      [`sundial_requests_total{${orders},stage="deprecated",method="GET",code="200"}`]: 2,
      [`sundial_requests_total{${orders},stage="deprecated",method="POST",code="429"}`]: 1,
    });
  });

  it('know no API as none, an unlisted method as other and an invented code by its class', async () => {
    const { telemetry, series } = harness();
    telemetry.observer.onAnswer(
      { ...unrouted(), refusal: 'route_unknown' },
      outcome({ method: 'PROPFIND', status: 404 }),
    );
    telemetry.observer.onAnswer(unrouted(), outcome({ status: 299 }));
    telemetry.observer.onAnswer(unrouted(), outcome({ status: 0 }));
    const none = 'api="none",version="none",stage="none"';
    expect(await series('sundial_requests_total')).toEqual({
      [`sundial_requests_total{${none},method="other",code="404"}`]: 1,
      [`sundial_requests_total{${none},method="GET",code="2xx"}`]: 1,
      [`sundial_requests_total{${none},method="GET",code="other"}`]: 1,
    });
  });

  it('stay bounded whatever paths, methods and codes come in', async () => {
    const { telemetry, series } = harness();
    for (let index = 0; index < 10_000; index += 1) {
      const wild = outcome({ path: `/${index}`, method: `M${index}`, status: 200 + (index % 100) });
      telemetry.observer.onAnswer(unrouted(), wild);
    }
    expect(Object.keys(await series('sundial_requests_total')).length).toBeLessThan(20);
  });

  it('keep durations in seconds, in cumulative buckets', async () => {
    const { telemetry, clocks, series } = harness();
    for (const milliseconds of [1, 3, 20_000]) {
      clocks.monotonic = milliseconds;
      telemetry.observer.onAnswer({ ...deprecatedFacts(), upstreamMs: undefined }, outcome());
    }
    const page = await series('sundial_request_duration_seconds');
    const bucket = (le: string) => page[`sundial_request_duration_seconds_bucket{le="${le}",${orders}}`];
    expect([bucket('0.001'), bucket('0.0025'), bucket('0.005'), bucket('10'), bucket('+Inf')]).toEqual([
      1, 1, 2, 2, 3,
    ]);
    expect(page[`sundial_request_duration_seconds_count{${orders}}`]).toBe(3);
    expect(page[`sundial_request_duration_seconds_sum{${orders}}`]).toBeCloseTo(20.004);
  });

  it('time the upstream apart, and only when it was asked', async () => {
    const { telemetry, series } = harness();
    const forwarded = { ...deprecatedFacts(), version: version({ upstream }) };
    telemetry.observer.onAnswer({ ...forwarded, upstreamMs: 40 }, outcome());
    telemetry.observer.onAnswer(forwarded, outcome({ status: 429 }));
    const page = await series('sundial_upstream_duration_seconds_count');
    expect(page).toEqual({ [`sundial_upstream_duration_seconds_count{${orders},upstream="orders-v1"}`]: 1 });
  });

  it('go on counting when a reload makes new objects for the same version', async () => {
    const { telemetry, series } = harness();
    telemetry.observer.onAnswer(deprecatedFacts(), outcome());
    telemetry.observer.onAnswer({ ...deprecatedFacts(), api: api(), version: version() }, outcome());
    expect(Object.values(await series('sundial_requests_total'))).toEqual([2]);
  });

  it.each([
    ['gone', 'version_retired'],
    ['redirect', 'version_moved'],
    ['brownout', 'brownout'],
  ] as const)('count a request past the sunset or in a brownout as %s', async (action, refusal) => {
    const { telemetry, series } = harness();
    telemetry.observer.onAnswer({ ...deprecatedFacts(), refusal }, outcome({ status: 410 }));
    expect(await series('sundial_retired_requests_total')).toEqual({
      [`sundial_retired_requests_total{${orders},action="gone"}`]: 0,
      [`sundial_retired_requests_total{${orders},action="${action}"}`]: 1,
    });
  });

  it.each([
    [{ ...deprecatedFacts() }, 'path', 'matched'],
    [{ ...deprecatedFacts(), carrier: 'header' }, 'header', 'matched'],
    [{ ...deprecatedFacts(), carrier: 'default' }, 'default', 'default'],
    [unresolved('version_ambiguous'), 'none', 'conflict'],
    [unresolved('version_unknown'), 'none', 'unknown'],
    [unresolved('version_malformed'), 'none', 'malformed'],
    [unresolved('version_missing'), 'none', 'missing'],
  ] satisfies [ExchangeFacts, string, string][])(
    'say how the version was found: case %#',
    async (facts, carrier, result) => {
      const { telemetry, series } = harness();
      telemetry.observer.onAnswer(facts, outcome());
      expect(await series('sundial_version_resolutions_total')).toEqual({
        [`sundial_version_resolutions_total{api="orders",carrier="${carrier}",outcome="${result}"}`]: 1,
      });
    },
  );

  it.each([
    [
      'allowed',
      { kind: 'counted', limit, allowed: true, remaining: 1, retryAfterMs: 0, resetMs: 1 },
      'deprecated',
    ],
    [
      'limited',
      { kind: 'counted', limit, allowed: false, remaining: 0, retryAfterMs: 9, resetMs: 1 },
      'deprecated',
    ],
    ['degraded', { kind: 'degraded', limit, allowed: true, retryAfterMs: 0 }, 'deprecated'],
    ['limited', { kind: 'degraded', limit, allowed: false, retryAfterMs: 9 }, 'deprecated'],
    ['degraded', { kind: 'unavailable', limit }, 'deprecated'],
  ] as const)('count a limit as %s: case %#', async (decision, quota, policy) => {
    const { telemetry, series } = harness();
    const refusal = decision === 'limited' ? 'rate_limited' : undefined;
    const quotas = [{ ...quota, rule: RULE }];
    telemetry.observer.onAnswer({ ...deprecatedFacts(), quotas, refusal }, outcome());
    expect(await series('sundial_ratelimit_decisions_total')).toEqual({
      [`sundial_ratelimit_decisions_total{${orders},policy="${policy}",decision="${decision}"}`]: 1,
    });
  });

  it('count a limit in shadow as what it would have done, beside the one that is in force', async () => {
    const { telemetry, series } = harness();
    const counted = { kind: 'counted', remaining: 0, retryAfterMs: 9, resetMs: 1 } as const;
    const quotas = [
      { ...counted, limit, rule: RULE, allowed: true },
      { ...counted, limit: { ...limit, name: 'trial' }, rule: { ...RULE, shadow: true }, allowed: false },
    ];
    telemetry.observer.onAnswer({ ...deprecatedFacts(), quotas }, outcome());
    expect(await series('sundial_ratelimit_decisions_total')).toEqual({
      [`sundial_ratelimit_decisions_total{${orders},policy="deprecated",decision="allowed"}`]: 1,
      [`sundial_ratelimit_decisions_total{${orders},policy="trial",decision="shadow_limited"}`]: 1,
    });
  });

  it('count as what it would have been what an API that is only observed let pass', async () => {
    const { telemetry, series } = harness();
    const quota = {
      kind: 'counted',
      limit,
      allowed: false,
      remaining: 0,
      retryAfterMs: 9,
      resetMs: 1,
    } as const;
    telemetry.observer.onAnswer(
      { ...deprecatedFacts(), quotas: [{ ...quota, rule: RULE }], observed: 'rate_limited' },
      outcome(),
    );
    expect(await series('sundial_ratelimit_decisions_total')).toEqual({
      [`sundial_ratelimit_decisions_total{${orders},policy="deprecated",decision="shadow_limited"}`]: 1,
    });
  });

  it('count the guard, which knows no API yet', async () => {
    const { telemetry, series } = harness();
    telemetry.observer.onAnswer({ ...unrouted(), refusal: 'guard_limited' }, outcome({ status: 429 }));
    expect(await series('sundial_ratelimit_decisions_total')).toEqual({
      'sundial_ratelimit_decisions_total{api="none",version="none",policy="guard",decision="limited"}': 1,
    });
  });

  it.each(['credentials_missing', 'credentials_malformed', 'token_invalid', 'scope_insufficient'] as const)(
    'count %s as a failure to authenticate',
    async (refusal) => {
      const { telemetry, series } = harness();
      telemetry.observer.onAnswer({ ...deprecatedFacts(), refusal }, outcome({ status: 401 }));
      expect(await series('sundial_auth_failures_total')).toEqual({
        [`sundial_auth_failures_total{api="orders",reason="${refusal}"}`]: 1,
      });
    },
  );

  it('count keys that could not be had as a failure to authenticate', async () => {
    const { telemetry, series } = harness();
    telemetry.observer.onAnswer(
      { ...deprecatedFacts(), fault: 'identity_unavailable' },
      outcome({ status: 503 }),
    );
    expect(await series('sundial_auth_failures_total')).toEqual({
      'sundial_auth_failures_total{api="orders",reason="identity_unavailable"}': 1,
    });
  });
});

describe('consumers of deprecated versions', () => {
  const name = (label: string) => `sundial_deprecated_requests_total{${orders},consumer="${label}"}`;

  it('are counted by name; ids that name no application share one series', async () => {
    const { telemetry, series } = harness();
    telemetry.observer.onAnswer({ ...deprecatedFacts(), consumer: consumer('acme') }, outcome());
    telemetry.observer.onAnswer({ ...deprecatedFacts(), consumer: consumer('user-4711', false) }, outcome());
    telemetry.observer.onAnswer(deprecatedFacts(), outcome());
    expect(await series('sundial_deprecated_requests_total')).toEqual({
      [name('acme')]: 1,
      [name('none')]: 2,
    });
  });

  it('are not counted on a version that is not deprecated', async () => {
    const { telemetry, series } = harness();
    const [active] = version().phases.filter((phase) => phase.stage === 'active');
    telemetry.observer.onAnswer(
      { ...deprecatedFacts(), phase: active, consumer: consumer('acme') },
      outcome(),
    );
    expect(await series('sundial_deprecated_requests_total')).toEqual({ [name('none')]: 0 });
  });

  it('have at most 200 series; the rest is other, and the dropped counter moves', async () => {
    const { telemetry, series } = harness();
    for (let index = 0; index < 250; index += 1) {
      telemetry.observer.onAnswer({ ...deprecatedFacts(), consumer: consumer(`c${index}`) }, outcome());
    }
    const page = await series('sundial_deprecated_requests_total');
    // And the one that is there before anybody calls.
    expect(Object.keys(page)).toHaveLength(202);
    expect(page[name('other')]).toBe(50);
    expect(await series('sundial_metrics_series_dropped_total')).toEqual({
      'sundial_metrics_series_dropped_total{metric="sundial_deprecated_requests_total"}': 50,
    });
  });

  it('leave after 35 idle days and make room', async () => {
    const { telemetry, clocks, series } = harness();
    telemetry.observer.onAnswer({ ...deprecatedFacts(), consumer: consumer('old') }, outcome());
    clocks.wall = WALL + 35 * 86_400_000;
    expect(await series(name('old'))).toEqual({ [name('old')]: 1 });
    clocks.wall += 1;
    expect(await series(name('old'))).toEqual({});
  });

  it('cannot break the page with what stands in a token', async () => {
    const { telemetry, series } = harness();
    const id = `a"b\\c\nd\re\ud800${'x'.repeat(5000)}`;
    telemetry.observer.onAnswer({ ...deprecatedFacts(), consumer: consumer(id) }, outcome());
    const [line = ''] = Object.keys(await series('sundial_deprecated_requests_total'));
    expect(line).toContain('consumer="a\\"b\\\\c\ufffdd\ufffde\ufffdx');
    expect(line.length).toBeLessThan(300);
  });
});

describe('gauges of the plan', () => {
  it('derive the stage of every version from its dates when scraped', async () => {
    const { clocks, series } = harness();
    const info = (stage: string) => ({
      [`sundial_version_info{${orders},stage="${stage}",successor="v2"}`]: 1,
    });
    expect(await series('sundial_version_info')).toEqual(info('deprecated'));
    clocks.lifecycle = Date.UTC(2026, 0, 15) - 1;
    expect(await series('sundial_version_info')).toEqual(info('active'));
    clocks.lifecycle = Date.UTC(2027, 3, 15);
    expect(await series('sundial_version_info')).toEqual(info('retired'));
  });

  it('derive the stage of an API from that of its most alive version, to the second', async () => {
    const { clocks, series } = harness();
    const stages: (readonly string[])[] = [];
    for (const boundary of [Date.UTC(2026, 0, 15), Date.UTC(2027, 3, 15)])
      for (const at of [boundary - 1000, boundary, boundary + 1000]) {
        clocks.lifecycle = at;
        stages.push(Object.keys(await series('sundial_api_info')));
      }
    const one = (stage: string) => [`sundial_api_info{api="orders",stage="${stage}"}`];
    const [active, deprecated, retired] = [one('active'), one('deprecated'), one('retired')];
    expect(stages).toEqual([active, deprecated, deprecated, deprecated, retired, retired]);
  });

  it('show the dates, the last request and the revision', async () => {
    const { telemetry, series } = harness();
    telemetry.observer.onAnswer(deprecatedFacts(), outcome());
    expect(await series('sundial_version_')).toMatchObject({
      [`sundial_version_deprecation_timestamp_seconds{${orders}}`]: Date.UTC(2026, 0, 15) / 1000,
      [`sundial_version_sunset_timestamp_seconds{${orders}}`]: Date.UTC(2027, 3, 15) / 1000,
      [`sundial_version_last_request_timestamp_seconds{${orders}}`]: WALL / 1000,
    });
    expect(await series('sundial_config_info')).toEqual({
      [`sundial_config_info{hash="${'0'.repeat(64)}"}`]: 1,
    });
  });

  it('show a pause while it runs, and stage and sunset as it leaves them', async () => {
    const sunset = Date.UTC(2027, 3, 15);
    const until = sunset + 86_400_000;
    const pause = {
      kind: 'pause',
      id: 'p1',
      api: 'orders',
      label: 'v1',
      author: 'alice',
      reason: 'x',
    } as const;
    const current = plan([api([version({ upstream })])]);
    const { clocks, series } = harness(
      () => current,
      () => [{ ...pause, from: sunset, until }],
    );
    const states = [];
    for (const instant of [sunset - 1, sunset, until - 1, until]) {
      clocks.lifecycle = instant;
      const { [`sundial_version_paused{${orders}}`]: paused } = await series('sundial_version_paused');
      const { [`sundial_version_sunset_timestamp_seconds{${orders}}`]: at } = await series(
        'sundial_version_sunset_timestamp_seconds',
      );
      const [info = ''] = Object.keys(await series('sundial_version_info'));
      states.push([paused, at, /stage="(\w+)"/.exec(info)?.[1]]);
    }
    expect(states).toEqual([
      [0, sunset / 1000, 'deprecated'],
      [1, until / 1000, 'deprecated'],
      [1, until / 1000, 'deprecated'],
      [0, sunset / 1000, 'retired'],
    ]);
  });

  it('follow the plan of the moment', async () => {
    let current = plan();
    const { series } = harness(() => current);
    current = { ...plan([]), revision: 'next' };
    expect(await series('sundial_version_info')).toEqual({});
    expect(await series('sundial_config_info')).toEqual({ 'sundial_config_info{hash="next"}': 1 });
  });
});

describe('the limits of the plan', () => {
  const rule = (name: string, lowered: string, changes: Partial<LimitRule> = {}): LimitRule => ({
    ...RULE,
    active: { ...limit, name },
    deprecated: { ...limit, name: lowered },
    ...changes,
  });
  const whole = { each: [rule('default', 'deprecated'), rule('trial', 'trial', { shadow: true })], cost: 1 };
  const search = rule('default', 'deprecated', { onStoreFailure: 'refuse' });
  const table = createOperationTable([
    {
      template: { method: 'GET', segments: [{ kind: 'literal', text: 'search' }] },
      rules: version({
        operation: 'GET /search',
        limits: { each: [search, rule('login', 'login')], cost: 1 },
      }),
    },
  ]);
  const limited = (mode: ApiPlan['mode'] = 'enforce') => {
    const owner = { ...api([version({ limits: whole, operations: table })]), mode };
    return harness(() => ({ ...plan([owner]), guard: limit }));
  };
  const labelsOf = (page: Record<string, number>) =>
    Object.keys(page).map((series) =>
      /policy="([a-z]+)",(?:mode|decision)="(\w+)"/.exec(series)?.slice(1).join(' '),
    );

  it('have the names that decisions are counted by, and the modes of operations beside those of their version', async () => {
    const { telemetry, clocks, series } = limited();
    expect(labelsOf(await series('sundial_ratelimit_mode'))).toEqual([
      'deprecated shared',
      'trial shared',
      'login shared',
    ]);
    telemetry.metrics.storeUp('redis', false);
    expect(labelsOf(await series('sundial_ratelimit_mode'))).toEqual([
      'deprecated local',
      'trial local',
      'deprecated refuse',
      'login local',
    ]);
    clocks.lifecycle = Date.UTC(2025, 0, 1);
    expect(labelsOf(await series('sundial_ratelimit_mode'))[0]).toBe('default local');
  });

  it('are counted from 0 on, each as it can be decided, and no more than that', async () => {
    const page = await limited().series('sundial_ratelimit_decisions_total');
    expect(new Set(Object.values(page))).toEqual(new Set([0]));
    expect(labelsOf(page)).toEqual([
      'guard limited',
      'deprecated allowed',
      'deprecated limited',
      'trial allowed',
      'trial shadow_limited',
      'login allowed',
      'login limited',
    ]);
    const observed = await limited('observe').series('sundial_ratelimit_decisions_total');
    expect(labelsOf(observed)).toContain('deprecated shadow_limited');
    expect(labelsOf(observed)).not.toContain('deprecated limited');
  });
});

describe('the state of the process', () => {
  it('starts as after a good load, and keeps the time of the last good one', async () => {
    const { telemetry, clocks, series } = harness();
    const reloads = (success: number, failure: number, successful: number, at: number) => ({
      'sundial_config_reloads_total{result="success"}': success,
      'sundial_config_reloads_total{result="failure"}': failure,
      sundial_config_last_reload_successful: successful,
      sundial_config_last_reload_success_timestamp_seconds: at / 1000,
    });
    expect(await series('sundial_config_')).toMatchObject(reloads(0, 0, 1, WALL));
    clocks.wall = WALL + 5000;
    telemetry.metrics.reload('failure', 40);
    expect(await series('sundial_config_')).toMatchObject(reloads(0, 1, 0, WALL));
    telemetry.metrics.reload('success', 1200);
    expect(await series('sundial_config_')).toMatchObject(reloads(1, 1, 1, WALL + 5000));
  });

  it('shows stores, certificates and the offset of the lifecycle clock', async () => {
    const { telemetry, series } = harness();
    telemetry.metrics.storeUp('redis', true);
    telemetry.metrics.storeUp('redis', false);
    telemetry.metrics.certificate('api.example.com', WALL);
    telemetry.metrics.certificatesCurrent(false);
    expect(await series('sundial_store_up')).toEqual({ 'sundial_store_up{store="redis"}': 0 });
    expect(await series('sundial_tls_')).toEqual({
      'sundial_tls_certificate_expiry_timestamp_seconds{sni="api.example.com"}': WALL / 1000,
      sundial_tls_certificates_current: 0,
    });
    expect(await series('sundial_lifecycle_clock_offset_seconds')).toEqual({
      sundial_lifecycle_clock_offset_seconds: Math.round((NOW - WALL) / 1000),
    });
  });

  it('counts log lines that were lost', async () => {
    const { telemetry, series } = harness();
    await telemetry.close();
    telemetry.observer.onAnswer(deprecatedFacts(), outcome());
    expect(await series('sundial_access_log_dropped_total')).toEqual({ sundial_access_log_dropped_total: 1 });
  });

  it('has the metrics of the runtime, less the three whose names mislead', async () => {
    const { series } = harness();
    const runtime = Object.keys(await series('nodejs_'));
    expect(runtime).toContain('nodejs_eventloop_lag_p99_seconds');
    expect(runtime.filter((name) => /^nodejs_active_\w+_total/.test(name))).toEqual([]);
    expect(await series('process_resident_memory_bytes')).not.toEqual({});
  });
});

describe('counters of what the plan makes possible', () => {
  it('are there at 0 before anything happens, so that the first call is seen', async () => {
    const { series } = harness();
    expect(await series('sundial_deprecated_requests_total')).toEqual({
      [`sundial_deprecated_requests_total{${orders},consumer="none"}`]: 0,
    });
    expect(await series('sundial_retired_requests_total')).toEqual({
      [`sundial_retired_requests_total{${orders},action="gone"}`]: 0,
    });
  });

  it('are those of refused credentials where somebody must be known, of named consumers, of brownouts and moves', async () => {
    const v1: VersionRules = {
      ...version(),
      exceptions: [{ consumer: 'acme', until: NOW, from: ['limits'], why: 'w', by: 'b', phases: [] }],
      schedule: { ...version().schedule, after: { kind: 'redirect', to: 'v2', unsafe: 308 } },
    };
    const guarded: ApiPlan = { ...api(), access: ACCESS, versions: new Map([['v1', v1]]) };
    const { series } = harness(() => ({ ...plan(), apis: [guarded] }));
    const failure = (reason: string) => [`sundial_auth_failures_total{api="orders",reason="${reason}"}`, 0];
    expect(Object.entries(await series('sundial_auth_failures_total'))).toEqual(
      ['credentials_missing', 'token_invalid', 'scope_insufficient'].map(failure),
    );
    expect(Object.keys(await series('sundial_deprecated_requests_total'))).toContain(
      `sundial_deprecated_requests_total{${orders},consumer="acme"}`,
    );
    expect(await series('sundial_retired_requests_total')).toEqual({
      [`sundial_retired_requests_total{${orders},action="redirect"}`]: 0,
    });
  });

  it('are counted on and stand once', async () => {
    const { telemetry, series } = harness();
    telemetry.observer.onAnswer(deprecatedFacts(), outcome());
    expect(await series('sundial_deprecated_requests_total')).toEqual({
      [`sundial_deprecated_requests_total{${orders},consumer="none"}`]: 1,
    });
  });
});
