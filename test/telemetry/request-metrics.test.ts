// The counters and histograms that a response changes, and the values of their labels.
import { describe, expect, it } from 'vitest';
import type { RefusalReason } from '../../gateway/exchange/directive.ts';
import { Fault } from '../../gateway/exchange/directive.ts';
import type { ExchangeFacts } from '../../gateway/exchange/facts.ts';
import {
  ACCESS,
  api,
  deprecatedFacts,
  RULE,
  upstream,
  version,
  withFacts,
} from '../support/exchange-samples.ts';
import { harness, outcome, unrouted } from './telemetry-harness.ts';

const limit = { name: 'deprecated', units: 60, windowMs: 60_000, burst: 60 };
const acme = {
  id: 'acme',
  mayLabelMetrics: true,
  via: 'token',
  scopes: new Set<string>(),
  claims: {},
} as const;
const orders = 'api="orders",version="v1"';

function unresolved(refusal: RefusalReason): ExchangeFacts {
  return withFacts(unrouted(), { api: api(), refusal });
}

describe('request metrics', () => {
  it('count a response by API, version, stage, method and code', async () => {
    const { telemetry, moved } = harness();
    telemetry.observer.onAnswer(deprecatedFacts(), outcome());
    telemetry.observer.onAnswer(deprecatedFacts(), outcome());
    telemetry.observer.onAnswer(deprecatedFacts(), outcome({ method: 'POST', status: 429 }));
    expect(await moved('sundial_requests_total')).toEqual({
      [`sundial_requests_total{${orders},stage="deprecated",method="GET",code="200"}`]: 2,
      [`sundial_requests_total{${orders},stage="deprecated",method="POST",code="429"}`]: 1,
    });
  });

  it('use none without an API, other for an unlisted method and the class of an unlisted code', async () => {
    const { telemetry, moved } = harness();
    telemetry.observer.onAnswer(
      withFacts(unrouted(), { refusal: 'route_unknown' }),
      outcome({ method: 'PROPFIND', status: 404 }),
    );
    telemetry.observer.onAnswer(unrouted(), outcome({ status: 299 }));
    telemetry.observer.onAnswer(unrouted(), outcome({ status: 0 }));
    const none = 'api="none",version="none",stage="none"';
    expect(await moved('sundial_requests_total')).toEqual({
      [`sundial_requests_total{${none},method="other",code="404"}`]: 1,
      [`sundial_requests_total{${none},method="GET",code="2xx"}`]: 1,
      [`sundial_requests_total{${none},method="GET",code="other"}`]: 1,
    });
  });

  it('keep durations in seconds, in cumulative buckets', async () => {
    const { telemetry, clocks, series } = harness();
    for (const milliseconds of [1, 3, 20_000]) {
      clocks.monotonic = milliseconds;
      telemetry.observer.onAnswer(deprecatedFacts({ upstreamMs: undefined }), outcome());
    }
    const page = await series('sundial_request_duration_seconds');
    const bucket = (le: string) => page[`sundial_request_duration_seconds_bucket{le="${le}",${orders}}`];
    expect([bucket('0.001'), bucket('0.0025'), bucket('0.005'), bucket('10'), bucket('+Inf')]).toEqual([
      1, 1, 2, 2, 3,
    ]);
    expect(page[`sundial_request_duration_seconds_count{${orders}}`]).toBe(3);
    expect(page[`sundial_request_duration_seconds_sum{${orders}}`]).toBeCloseTo(20.004);
  });

  it('measure the upstream separately, and only if it got the request', async () => {
    const { telemetry, series } = harness();
    const forwarded = deprecatedFacts({ version: version({ upstream }) });
    telemetry.observer.onAnswer(withFacts(forwarded, { upstreamMs: 40 }), outcome());
    telemetry.observer.onAnswer(forwarded, outcome({ status: 429 }));
    const page = await series('sundial_upstream_duration_seconds_count');
    expect(page).toEqual({ [`sundial_upstream_duration_seconds_count{${orders},upstream="orders-v1"}`]: 1 });
  });

  const forwarded = deprecatedFacts({ version: version({ upstream }) });

  it.each([
    ['answered', { upstreamMs: 4 }, outcome()],
    ['answered', { upstreamMs: 4 }, outcome({ status: 404 })],
    ['answered_5xx', { upstreamMs: 4 }, outcome({ status: 503 })],
    ['client_left', { upstreamMs: 4 }, outcome({ aborted: true })],
    ['client_left', {}, outcome({ aborted: true, status: 499 })],
    ['refused', { fault: new Fault('upstream_refused') }, outcome({ status: 502 })],
    ['busy', { fault: new Fault('upstream_busy') }, outcome({ status: 503 })],
    ['headers_timeout', { fault: new Fault('upstream_headers_timeout') }, outcome({ status: 504 })],
    ['reset', { fault: new Fault('upstream_reset'), upstreamMs: 4 }, outcome({ aborted: true })],
  ] as const)('count a forwarded request as %s: case %#', async (result, changes, ended) => {
    const { telemetry, moved } = harness();
    telemetry.observer.onAnswer(withFacts(forwarded, { ...changes, retries: 2 }), ended);
    const labels = `${orders},upstream="orders-v1"`;
    expect(await moved('sundial_upstream_requests_total')).toEqual({
      [`sundial_upstream_requests_total{${labels},outcome="${result}"}`]: 1,
    });
    expect(await moved('sundial_upstream_retries_total')).toEqual({
      [`sundial_upstream_retries_total{${labels}}`]: 2,
    });
  });

  it.each([
    ['a refusal', { refusal: 'rate_limited' }, outcome({ status: 429 })],
    ['a body that was refused during its upload', { refusal: 'body_too_large', upstreamMs: 4 }, outcome()],
    ['a replayed response', { idempotency: 'replayed' }, outcome()],
    ['a replayed response that was aborted', { idempotency: 'replayed' }, outcome({ aborted: true })],
    [
      'a fault of the identity provider',
      { fault: new Fault('identity_unavailable') },
      outcome({ status: 503 }),
    ],
    ['a fault of the gateway', { fault: new Fault('internal') }, outcome({ status: 500 })],
  ] as const)('count %s for no upstream', async (_what, changes, ended) => {
    const { telemetry, moved } = harness();
    telemetry.observer.onAnswer(withFacts(forwarded, changes), ended);
    expect(await moved('sundial_upstream_requests_total')).toEqual({});
  });

  it('add up the bytes of bodies in both directions', async () => {
    const { telemetry, series } = harness();
    telemetry.observer.onAnswer(withFacts(forwarded, { requestBytes: 70 }), outcome({ bytes: 512 }));
    telemetry.observer.onAnswer(withFacts(forwarded, { requestBytes: 30 }), outcome({ bytes: 88 }));
    expect(await series('sundial_request_bytes_total')).toEqual({
      [`sundial_request_bytes_total{${orders}}`]: 100,
    });
    expect(await series('sundial_response_bytes_total')).toEqual({
      [`sundial_response_bytes_total{${orders}}`]: 600,
    });
  });

  it('continue if a reload makes new objects for the same version', async () => {
    const { telemetry, moved } = harness();
    telemetry.observer.onAnswer(deprecatedFacts(), outcome());
    telemetry.observer.onAnswer(deprecatedFacts({ api: api(), version: version() }), outcome());
    expect(Object.values(await moved('sundial_requests_total'))).toEqual([2]);
  });

  it.each([
    ['gone', 'version_retired'],
    ['redirect', 'version_moved'],
    ['brownout', 'brownout'],
  ] as const)('count a request past the sunset or in a brownout as %s', async (action, refusal) => {
    const { telemetry, series } = harness();
    telemetry.observer.onAnswer(deprecatedFacts({ refusal }), outcome({ status: 410 }));
    expect(await series('sundial_retired_requests_total')).toEqual({
      [`sundial_retired_requests_total{${orders},action="gone"}`]: 0,
      [`sundial_retired_requests_total{${orders},action="${action}"}`]: 1,
    });
  });

  it.each([
    [deprecatedFacts(), 'path', 'matched'],
    [deprecatedFacts({ carrier: 'header' }), 'header', 'matched'],
    [deprecatedFacts({ carrier: 'default' }), 'default', 'default'],
    [unresolved('version_ambiguous'), 'none', 'conflict'],
    [unresolved('version_unknown'), 'none', 'unknown'],
    [unresolved('version_malformed'), 'none', 'malformed'],
    [unresolved('version_missing'), 'none', 'missing'],
  ] satisfies [ExchangeFacts, string, string][])(
    'count how the version was found: case %#',
    async (facts, carrier, result) => {
      const { telemetry, moved } = harness();
      telemetry.observer.onAnswer(facts, outcome());
      expect(await moved('sundial_version_resolutions_total')).toEqual({
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
    telemetry.observer.onAnswer(deprecatedFacts({ quotas, refusal }), outcome());
    expect(await series('sundial_ratelimit_decisions_total')).toEqual({
      [`sundial_ratelimit_decisions_total{${orders},policy="${policy}",decision="${decision}"}`]: 1,
    });
  });

  it('count a shadow limit as shadow_limited, beside the enforced limit', async () => {
    const { telemetry, series } = harness();
    const counted = { kind: 'counted', remaining: 0, retryAfterMs: 9, resetMs: 1 } as const;
    const quotas = [
      { ...counted, limit, rule: RULE, allowed: true },
      { ...counted, limit: { ...limit, name: 'trial' }, rule: { ...RULE, shadow: true }, allowed: false },
    ];
    telemetry.observer.onAnswer(deprecatedFacts({ quotas }), outcome());
    expect(await series('sundial_ratelimit_decisions_total')).toEqual({
      [`sundial_ratelimit_decisions_total{${orders},policy="deprecated",decision="allowed"}`]: 1,
      [`sundial_ratelimit_decisions_total{${orders},policy="trial",decision="shadow_limited"}`]: 1,
    });
  });

  it('count an exceeded limit of an API in observe mode as shadow_limited', async () => {
    const { telemetry, series } = harness();
    const counted = { kind: 'counted', allowed: false, remaining: 0, retryAfterMs: 9, resetMs: 1 } as const;
    const quotas = [{ ...counted, limit, rule: RULE }];
    telemetry.observer.onAnswer(deprecatedFacts({ quotas, observed: 'rate_limited' }), outcome());
    expect(await series('sundial_ratelimit_decisions_total')).toEqual({
      [`sundial_ratelimit_decisions_total{${orders},policy="deprecated",decision="shadow_limited"}`]: 1,
    });
  });

  it('count the guard without an API', async () => {
    const { telemetry, series } = harness();
    telemetry.observer.onAnswer(
      withFacts(unrouted(), { refusal: 'guard_limited' }),
      outcome({ status: 429 }),
    );
    expect(await series('sundial_ratelimit_decisions_total')).toEqual({
      'sundial_ratelimit_decisions_total{api="none",version="none",policy="guard",decision="limited"}': 1,
    });
  });

  it.each(['credentials_missing', 'credentials_malformed', 'token_invalid', 'scope_insufficient'] as const)(
    'count %s as an authentication failure',
    async (refusal) => {
      const { telemetry, series } = harness();
      telemetry.observer.onAnswer(deprecatedFacts({ refusal }), outcome({ status: 401 }));
      expect(await series('sundial_auth_failures_total')).toEqual({
        [`sundial_auth_failures_total{api="orders",reason="${refusal}"}`]: 1,
      });
    },
  );

  it.each([
    ['without a token', 'credentials_missing', undefined],
    ['with a bad token', 'token_invalid', undefined],
    ['without the scope', 'scope_insufficient', acme],
    ['in a brownout', 'brownout', undefined],
  ] as const)('count no caller of a deprecated version %s', async (_who, refusal, consumer) => {
    const { telemetry, moved } = harness();
    const guarded = deprecatedFacts({ version: version({ access: ACCESS }), refusal, consumer });
    for (let call = 0; call < 60; call += 1) telemetry.observer.onAnswer(guarded, outcome({ status: 401 }));
    expect(await moved('sundial_deprecated_')).toEqual({});
  });

  it('count an authenticated caller, even if it is rate limited', async () => {
    const { telemetry, moved } = harness();
    const known = deprecatedFacts({ version: version({ access: ACCESS }), consumer: acme });
    telemetry.observer.onAnswer(known, outcome());
    telemetry.observer.onAnswer(withFacts(known, { refusal: 'rate_limited' }), outcome({ status: 429 }));
    expect(await moved('sundial_deprecated_requests_total')).toEqual({
      [`sundial_deprecated_requests_total{${orders},consumer="acme"}`]: 2,
    });
  });

  it('count an unavailable key set as an authentication failure', async () => {
    const { telemetry, series } = harness();
    telemetry.observer.onAnswer(
      deprecatedFacts({ fault: new Fault('identity_unavailable') }),
      outcome({ status: 503 }),
    );
    expect(await series('sundial_auth_failures_total')).toEqual({
      'sundial_auth_failures_total{api="orders",reason="identity_unavailable"}': 1,
    });
  });
});
