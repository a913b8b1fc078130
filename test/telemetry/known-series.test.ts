// The series of a plan are 0 before the first request, because `rate()` ignores a first value.

import { describe, expect, it } from 'vitest';
import type { ApiPlan, GatewayPlan, VersionRules } from '../../gateway/plan/plan.ts';
import { NO_MATCHES } from '../../gateway/plan/routes/nodes-by-name.ts';
import { createOperationTable } from '../../gateway/plan/routes/operation-table.ts';
import type { LimitRule } from '../../gateway/policy/rate-limit/limit.ts';
import { createResolutionRules } from '../../gateway/policy/versioning/rules.ts';
import { UPSTREAM_OUTCOMES } from '../../gateway/telemetry/requests/request-labels.ts';
import {
  ACCESS,
  api,
  deprecatedFacts,
  LIMIT,
  NOW,
  plan,
  RULE,
  upstream,
  version,
} from '../support/exchange-samples.ts';
import { harness, outcome } from './telemetry-harness.ts';

const orders = 'api="orders",version="v1"';

describe('the counters of a plan', () => {
  it('are 0 before the first request', async () => {
    const { series } = harness();
    expect(await series('sundial_deprecated_requests_total')).toEqual({
      [`sundial_deprecated_requests_total{${orders},consumer="none"}`]: 0,
    });
    expect(await series('sundial_retired_requests_total')).toEqual({
      [`sundial_retired_requests_total{${orders},action="gone"}`]: 0,
    });
  });

  it('include each outcome of an upstream, failures and bytes', async () => {
    const served = plan([api([version({ upstream })])]);
    const { series } = harness(() => served);
    const outcomes = await series('sundial_upstream_requests_total');
    expect(Object.keys(outcomes)).toEqual(
      UPSTREAM_OUTCOMES.map(
        (each) => `sundial_upstream_requests_total{${orders},upstream="orders-v1",outcome="${each}"}`,
      ),
    );
    expect(new Set(Object.values(outcomes))).toEqual(new Set([0]));
    expect(await series('sundial_upstream_retries_total')).toEqual({
      [`sundial_upstream_retries_total{${orders},upstream="orders-v1"}`]: 0,
    });
    const failures = await series('sundial_requests_total');
    expect(Object.keys(failures)).toHaveLength(20);
    expect(failures).toMatchObject({
      [`sundial_requests_total{${orders},stage="deprecated",method="GET",code="502"}`]: 0,
    });
    for (const direction of ['request', 'response'])
      expect(await series(`sundial_${direction}_bytes_total`)).toEqual({
        [`sundial_${direction}_bytes_total{${orders}}`]: 0,
      });
  });

  it('include authentication failures, consumers with exceptions, and redirects', async () => {
    const v1: VersionRules = {
      ...version(),
      exceptions: [{ consumer: 'acme', until: NOW, from: ['limits'], why: 'w', by: 'b', phases: [] }],
      schedule: { ...version().schedule, after: { kind: 'redirect', to: 'v2', unsafe: 308 } },
    };
    const guarded: ApiPlan = { ...api(), access: ACCESS, versions: new Map([['v1', v1]]) };
    const { series } = harness(() => ({ ...plan(), apis: [guarded] }));
    const failure = (reason: string) => [`sundial_auth_failures_total{api="orders",reason="${reason}"}`, 0];
    expect(Object.entries(await series('sundial_auth_failures_total'))).toEqual(
      [
        'credentials_missing',
        'credentials_malformed',
        'scope_insufficient',
        'token_invalid',
        'identity_unavailable',
      ].map(failure),
    );
    expect(Object.keys(await series('sundial_deprecated_requests_total'))).toContain(
      `sundial_deprecated_requests_total{${orders},consumer="acme"}`,
    );
    expect(await series('sundial_retired_requests_total')).toEqual({
      [`sundial_retired_requests_total{${orders},action="redirect"}`]: 0,
    });
  });

  it('continue from 0 in the same series', async () => {
    const { telemetry, series } = harness();
    telemetry.observer.onAnswer(deprecatedFacts(), outcome());
    expect(await series('sundial_deprecated_requests_total')).toEqual({
      [`sundial_deprecated_requests_total{${orders},consumer="none"}`]: 1,
    });
  });

  it('include freezes, operations with their own dates, and other operations', async () => {
    const ended = { ...version().schedule, after: { kind: 'gone' as const } };
    const search = { ...version({ operation: 'GET /search' }), schedule: ended };
    const [planned] = version().phases;
    const later = version({ operation: 'GET /later', phases: planned === undefined ? [] : [planned] });
    const operations = { list: [search, later], match: () => undefined, reached: () => NO_MATCHES };
    const v1 = version({ operations, freeze: NOW, schedule: { ...ended, sunset: undefined } });
    const { telemetry, series } = harness(() => plan([api([v1])]));
    expect(Object.keys(await series('sundial_retired_requests_total'))).toEqual([
      `sundial_retired_requests_total{${orders},action="frozen"}`,
      `sundial_retired_requests_total{${orders},action="gone"}`,
    ]);
    const called = (operation: string) =>
      `sundial_deprecated_operation_requests_total{${orders},operation="${operation}"}`;
    const calls = () => series('sundial_deprecated_operation_requests_total');
    expect(await calls()).toEqual({ [called('other')]: 0, [called('GET /search')]: 0 });
    for (const rules of [search, v1, v1])
      telemetry.observer.onAnswer(deprecatedFacts({ version: rules }), outcome());
    expect(await calls()).toEqual({ [called('other')]: 2, [called('GET /search')]: 1 });
  });

  it('include each limit by its current name, and the guard', async () => {
    const shadow = { ...RULE, shadow: true, active: { ...LIMIT, name: 'trial' } };
    const lowered = { ...RULE, deprecated: { ...LIMIT, name: 'deprecated' } };
    const v1 = version({ limits: { each: [lowered, { ...shadow, deprecated: shadow.active }], cost: 1 } });
    const guard = { ...LIMIT, name: 'guard' };
    const { series } = harness(() => ({ ...plan([api([v1])]), guard }));
    const decided = (policy: string, decision: string) =>
      `sundial_ratelimit_decisions_total{${orders},policy="${policy}",decision="${decision}"}`;
    expect(Object.keys(await series('sundial_ratelimit_decisions_total'))).toEqual([
      'sundial_ratelimit_decisions_total{api="none",version="none",policy="guard",decision="limited"}',
      ...['allowed', 'limited', 'degraded'].map((decision) => decided('deprecated', decision)),
      ...['allowed', 'shadow_limited', 'degraded'].map((decision) => decided('trial', decision)),
    ]);
  });

  it('include each carrier of an API with its possible outcomes', async () => {
    const found = async (current: GatewayPlan) =>
      Object.keys(await harness(() => current).series('sundial_version_resolutions_total')).map((line) =>
        /carrier="(\w+)",outcome="(\w+)"/.exec(line)?.slice(1).join(' '),
      );
    expect(await found(plan())).toEqual([
      ...['path matched', 'path unknown', 'header matched', 'header unknown'],
      ...['none missing', 'none conflict'],
    ]);
    const labels = ['v1'];
    const resolution = createResolutionRules({ labels, header: undefined, query: 'v', default: 'v1' });
    expect(await found(plan([{ ...api(), paths: ['/api/orders'], resolution }]))).toEqual([
      ...['query matched', 'query unknown', 'default default', 'none conflict'],
    ]);
    const bare = { ...api(), versions: new Map([['none', version({ label: 'none' })]]) };
    expect(await found(plan([bare]))).toEqual(['unversioned matched']);
  });
});

describe('the limits of the plan', () => {
  const rule = (name: string, lowered: string, changes: Partial<LimitRule> = {}): LimitRule => ({
    ...RULE,
    active: { ...LIMIT, name },
    deprecated: { ...LIMIT, name: lowered },
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
    return harness(() => ({ ...plan([owner]), guard: { ...LIMIT, name: 'guard' } }));
  };
  const labelsOf = (page: Record<string, number>) =>
    Object.keys(page).map((series) =>
      /policy="([a-z]+)",(?:mode|decision)="(\w+)"/.exec(series)?.slice(1).join(' '),
    );

  it('have a mode for each limit of a version and of its operations', async () => {
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

  it('have a counter at 0 for each possible decision, and for no other', async () => {
    const page = await limited().series('sundial_ratelimit_decisions_total');
    expect(new Set(Object.values(page))).toEqual(new Set([0]));
    expect(labelsOf(page)).toEqual([
      'guard limited',
      ...['deprecated allowed', 'deprecated limited', 'deprecated degraded'],
      ...['trial allowed', 'trial shadow_limited', 'trial degraded'],
      ...['login allowed', 'login limited', 'login degraded'],
    ]);
    const observed = await limited('observe').series('sundial_ratelimit_decisions_total');
    expect(labelsOf(observed)).toContain('deprecated shadow_limited');
    expect(labelsOf(observed)).not.toContain('deprecated limited');
  });
});
