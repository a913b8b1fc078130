// `explain`, `diff` and `expect` for a policy with maintenance, and `diff` for targets.
import { describe, expect, it } from 'vitest';
import { failedExpectations } from '../../gateway/cli/expectations.ts';
import { ORDERS, workspace } from '../plan/workspace.ts';
import { diff, explain } from '../support/file-commands.ts';

const MAINTAINED = ORDERS.replace(
  '{ released: 2026-01-15 }',
  '{ released: 2026-01-15, maintenance: { until: 2026-11-20T06:00:00Z, why: a new index } }',
);

async function explained(request: string): Promise<string> {
  await using files = await workspace({ 'policies/orders.yaml': MAINTAINED });
  return (await explain(files, request, { as: 'acme' })).text;
}

async function changes(older: string, newer: string): Promise<readonly string[]> {
  await using files = await workspace({ 'old.yaml': older, 'new.yaml': newer });
  const { text } = await diff(files);
  return text.split('\n').filter((line) => line.startsWith('orders'));
}

describe('explain', () => {
  it('shows the maintenance with its reason and line, and what follows', async () => {
    const text = await explained('GET /api/v2/orders');
    expect(text).toMatch(
      /^refused +maintenance +until 2026-11-20T06:00:00Z: a new index +policies\/orders.yaml:10$/m,
    );
    expect(text).toContain('answer    503 Service Unavailable');
    expect(text).toContain('next      2026-11-20T06:00:00Z  v2 active: forwarded');
  });

  it('does not mention maintenance of another version', async () => {
    expect(await explained('GET /api/v1/orders')).not.toContain('maintenance');
  });
});

describe('an expectation', () => {
  it('of status 503 holds during maintenance, and fails at its end', async () => {
    const text = `${MAINTAINED}expect:
  - { request: GET /api/v2/orders, at: 2026-11-20T05:59:59Z, status: 503 }
  - { request: GET /api/v2/orders, at: 2026-11-20T06:00:00Z, status: 503 }
`;
    await using files = await workspace({ 'policies/orders.yaml': text });
    const failed = await failedExpectations(await files.load());
    expect(failed.map(({ line }) => line)).toEqual([13]);
  });
});

describe('diff', () => {
  it.each([
    [
      'a maintenance of one version',
      ORDERS,
      MAINTAINED,
      ['orders v2: maintenance until 2026-11-20T06:00:00Z added'],
    ],
    [
      'a maintenance of the whole API at each version',
      ORDERS,
      ORDERS.replace('upstreams:', 'maintenance: 2026-11-21\nupstreams:'),
      ['orders v1: maintenance until 2026-11-21 added', 'orders v2: maintenance until 2026-11-21 added'],
    ],
    [
      'no change if only the reason of a maintenance differs',
      MAINTAINED,
      MAINTAINED.replace('a new index', 'two new indexes'),
      [],
    ],
  ])('shows %s', async (_whose, older, newer, expected) => {
    expect(await changes(older, newer)).toEqual(expected);
  });

  it.each([
    [
      'a second target adds balance and a breaker',
      'targets: [http://127.0.0.1:4001], breaker: off',
      'targets: [http://127.0.0.1:4001, http://127.0.0.1:4005]',
      [
        'orders upstream v1: target http://127.0.0.1:4005 added',
        'orders upstream v1: breaker off -> 5 failures, open 10 seconds, never the last target',
        'orders upstream v1: balance round-robin added',
      ],
    ],
    [
      'a health check is shown with its defaults',
      'targets: [http://127.0.0.1:4001]',
      'targets: [http://127.0.0.1:4001], health: /healthz',
      ['orders upstream v1: health /healthz every 5 seconds, timeout 1 second, healthy 2, unhealthy 3 added'],
    ],
    [
      'a written default is no change',
      'targets: [http://127.0.0.1:4001], health: /healthz, breaker: {}',
      'targets: [http://127.0.0.1:4001], health: { path: /healthz, every: 5s }, breaker: { failures: 5, open: 10s }',
      [],
    ],
  ])('of targets: %s', async (_what, older, newer, expected) => {
    const target = 'targets: [http://127.0.0.1:4001]';
    expect(await changes(ORDERS.replace(target, older), ORDERS.replace(target, newer))).toEqual(expected);
  });
});
