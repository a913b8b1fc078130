// Tests checks and defaults of targets and maintenance. Each row has one mistake.
import { describe, expect, it } from 'vitest';
import type { UpstreamPlan } from '../../gateway/plan/plan.ts';
import { ORDERS, workspace } from './workspace.ts';

const V1 = '  v1: { targets: [http://127.0.0.1:4001] }';
const upstream = (rest: string): string => ORDERS.replace(V1, `  v1: { ${rest} }`);
const ONE = 'targets: [http://127.0.0.1:4001]';
const TWO = 'targets: [http://127.0.0.1:4001, http://127.0.0.1:4005]';

async function problems(text: string): Promise<readonly string[]> {
  await using files = await workspace({ 'policies/orders.yaml': text });
  return (await files.problems()).map((problem) => problem.replace('policies/orders.yaml:', ''));
}

async function compiled(rest: string): Promise<UpstreamPlan | undefined> {
  await using files = await workspace({ 'policies/orders.yaml': upstream(rest) });
  const { plan, problems: found } = await files.load();
  expect(found).toEqual([]);
  return plan?.apis[0]?.versions.get('v1')?.upstream;
}

describe('check', () => {
  it.each([
    [
      'a target that is listed twice',
      'targets: [http://127.0.0.1:4001, http://127.0.0.1:4005, "http://127.0.0.1:4001/"]',
      '6 «"http://127.0.0.1:4001/"» error: this target is listed twice',
    ],
    [
      'a balance with one target',
      `${ONE}, balance: consumer`,
      '6 «balance» warning: balance has no effect with one target',
    ],
    [
      'a slow start with one target',
      `${ONE}, health: /healthz, slow_start: 30s`,
      '6 «slow_start» warning: slow_start has no effect with one target',
    ],
    [
      'a slow start without a health check and a breaker',
      `${TWO}, breaker: off, slow_start: 30s`,
      '6 «slow_start» warning: slow_start has no effect without health checks or a breaker',
    ],
    [
      'a health check interval above an hour',
      `${TWO}, health: { path: /healthz, every: 2h }`,
      '6 «2h» error: not a duration of up to 1h, such as 500ms, 5s or 1m: "2h"',
    ],
    [
      'an unknown balance',
      `${TWO}, balance: round_robin`,
      '6 «round_robin» error: expected "round-robin", "least-requests" or "consumer": "round_robin" (did you mean "round-robin"?)',
    ],
    [
      'a threshold of zero',
      `${ONE}, health: { path: /healthz, unhealthy: 0 }`,
      '6 «0» error: less than 1: 0',
    ],
  ])('finds %s', async (_what, rest, expected) => {
    expect(await problems(upstream(rest))).toEqual([expected]);
  });

  it.each(['healthz', '/../healthz', '/a/./b', 'http://127.0.0.1/healthz', '/a b', '/%2e%2e/x', '/a#b'])(
    'refuses paths such as %s for a health check',
    async (path) => {
      const [found = ''] = await problems(upstream(`${ONE}, health: ${JSON.stringify(path)}`));
      expect(found).toContain('not a path such as /healthz');
    },
  );

  it.each([
    [
      'of the whole API',
      ORDERS.replace('upstreams:', 'maintenance: 2026-11-19T20:00:00Z\nupstreams:'),
      [
        '5 «maintenance» warning: this maintenance ended at 2026-11-19T20:00:00Z (remove maintenance, or write its new end)',
      ],
    ],
    [
      'of a version',
      ORDERS.replace(
        '{ released: 2026-01-15 }',
        '{ released: 2026-01-15, maintenance: { until: 2026-11-20, why: done } }',
      ),
      [
        '10 «maintenance» warning: this maintenance ended at 2026-11-20 (remove maintenance, or write its new end)',
      ],
    ],
    [
      'of an operation',
      ORDERS.replace(
        '{ released: 2026-01-15 }',
        '{ released: 2026-01-15, operations: { GET /search: { maintenance: 2025-01-01 } } }',
      ),
      [
        '10 «maintenance» warning: this maintenance ended at 2025-01-01 (remove maintenance, or write its new end)',
      ],
    ],
    [
      'but not of one that ends later',
      ORDERS.replace('upstreams:', 'maintenance: { until: 2026-11-20T00:00:01Z }\nupstreams:'),
      [],
    ],
  ])('warns of a maintenance in the past, %s', async (_whose, text, expected) => {
    expect(await problems(text)).toEqual(expected);
  });
});

describe('missing keys', () => {
  it('a single target has no health checks and no circuit breaker', async () => {
    expect(await compiled(ONE)).toMatchObject({
      balance: 'round-robin',
      slowStart: 0,
      health: undefined,
      breaker: undefined,
    });
  });

  it('several targets have a circuit breaker that never takes out the last one', async () => {
    const { breaker } = (await compiled(TWO)) ?? {};
    expect(breaker).toEqual({ failures: 5, open: 10_000, strict: false });
  });

  it.each([
    ['breaker: off', undefined],
    ['breaker: { failures: 3 }', { failures: 3, open: 10_000, strict: true }],
    ['breaker: { open: 1m }', { failures: 5, open: 60_000, strict: true }],
  ])('%s is accepted', async (written, expected) => {
    expect((await compiled(`${TWO}, ${written}`))?.breaker).toEqual(expected);
  });

  it.each([
    ['/healthz', { path: '/healthz', every: 5_000, timeout: 1_000, healthy: 2, unhealthy: 3 }],
    [
      '{ path: "/healthz?deep=1", every: 2s, healthy: 1 }',
      { path: '/healthz?deep=1', every: 2_000, timeout: 1_000, healthy: 1, unhealthy: 3 },
    ],
  ])('health: %s has defaults for the rest', async (written, expected) => {
    expect((await compiled(`${ONE}, health: ${written}`))?.health).toEqual(expected);
  });
});
