// A frozen version at any instant: the consumers it admits, and the refusal of others.
import { beforeAll, describe, expect, it } from 'vitest';
import { createExchange } from '../../gateway/exchange/exchange.ts';
import type { GatewayPlan } from '../../gateway/plan/plan.ts';
import type { VersionConsumer } from '../../gateway/policy/usage/ledger.ts';
import { planOf } from '../plan/workspace.ts';
import { view } from '../support/exchange-samples.ts';
import { PLENTY, quietPorts, tokensAreConsumers } from '../support/quiet-ports.ts';
import { POLICY } from './frozen-orders.ts';

let enforced: GatewayPlan;
let observed: GatewayPlan;

beforeAll(async () => {
  enforced = await planOf(POLICY);
  observed = await planOf(`mode: observe\n${POLICY}`);
});

interface Situation {
  readonly at?: string;
  readonly path?: string;
  readonly plan?: GatewayPlan;
  /** Undefined: no token. */
  readonly consumer?: string;
  readonly scopes?: readonly string[];
}

/** Consumers named `new…` were first seen after the freeze. */
async function judge({
  at = '2026-11-20',
  path = '/api/v1/orders/7',
  plan = enforced,
  consumer,
  scopes = ['orders:read'],
}: Situation) {
  const now = Date.parse(`${at.includes('T') ? at : `${at}T00:00:00Z`}`);
  const queries: (readonly [VersionConsumer, number])[] = [];
  const counted: string[] = [];
  const seen: VersionConsumer[] = [];
  const exchange = createExchange({
    ...quietPorts(
      () => plan,
      () => now,
    ),
    limiter: {
      take: (parts) =>
        parts.map(({ key, limit, rule }) => {
          counted.push(key);
          return { kind: 'counted', limit, rule, ...PLENTY };
        }),
    },
    adoption: {
      saw: (adopter) => seen.push(adopter),
      isLate: (adopter, freeze) => {
        queries.push([adopter, freeze]);
        return Promise.resolve(adopter.consumer.startsWith('new'));
      },
    },
    authenticators: tokensAreConsumers(scopes),
  });
  const facts = exchange.begin('b6f6b7f2-7a39-4d4d-9f68-54b7a5f1a001');
  const headers = consumer === undefined ? {} : { authorization: `Bearer ${consumer}` };
  const request = view({ path, headers });
  const directive = await exchange.decide(request, facts);
  const refusal = directive.kind === 'refuse' ? directive.refusal : undefined;
  const answer = refusal && exchange.refuse(refusal, facts, request);
  return { outcome: refusal?.reason ?? directive.kind, answer, facts, queries, counted, seen };
}

describe('a frozen version', () => {
  it.each<[string, Situation, string]>([
    ['admits a consumer first seen before the freeze', { consumer: 'acme' }, 'forward'],
    ['refuses a consumer first seen later', { consumer: 'newcomer' }, 'adoption_frozen'],
    ['refuses new consumers on the first day', { at: '2026-06-01', consumer: 'newcomer' }, 'adoption_frozen'],
    ['admits every consumer earlier', { at: '2026-05-31T23:59:59.999Z', consumer: 'newcomer' }, 'forward'],
    ['refuses a new consumer with any scopes', { consumer: 'newcomer', scopes: [] }, 'adoption_frozen'],
    ['requires a token first', {}, 'credentials_missing'],
    ['admits callers known by address only', { path: '/api/v1/orders/open' }, 'forward'],
    [
      'refuses a new consumer on every operation',
      { at: '2026-08-01', path: '/api/v1/orders/old', consumer: 'newcomer' },
      'adoption_frozen',
    ],
    [
      'ORD-3: reports an ended operation as ended, and not as frozen',
      { path: '/api/v1/orders/old', consumer: 'newcomer' },
      'version_retired',
    ],
    ['ORD-3: ends for all consumers', { at: '2027-01-15', consumer: 'newcomer' }, 'version_retired'],
    ['does not affect its successor', { path: '/api/v2/orders/7', consumer: 'newcomer' }, 'forward'],
  ])('%s', async (_title, situation, outcome) => {
    expect((await judge(situation)).outcome).toBe(outcome);
  });

  it('queries the ledger by consumer id, and only from the freeze on', async () => {
    const adopter = { consumer: 'acme', api: 'orders', version: 'v1' };
    expect((await judge({ consumer: 'acme' })).queries).toEqual([[adopter, Date.UTC(2026, 5, 1)]]);
    expect((await judge({ at: '2026-05-31', consumer: 'acme' })).queries).toEqual([]);
    const justBefore = { at: '2026-05-31T23:59:59.999Z', consumer: 'acme' };
    expect(await judge(justBefore)).toMatchObject({ queries: [], seen: [adopter] });
    expect((await judge({ path: '/api/v2/orders/7', consumer: 'acme' })).queries).toEqual([]);
  });

  it('admits an excepted consumer without a query until the exception ends', async () => {
    expect(await judge({ consumer: 'partner' })).toMatchObject({ outcome: 'forward', queries: [] });
    expect((await judge({ at: '2026-12-01', consumer: 'partner' })).queries).toHaveLength(1);
  });

  it('refuses with the successor in body and Link, does not count, and must not be cached', async () => {
    const { answer, counted } = await judge({ consumer: 'newcomer' });
    expect(counted).toEqual([]);
    expect(answer?.status).toBe(403);
    expect(JSON.parse(answer?.body ?? '')).toEqual({
      error: 'Forbidden',
      message: 'API version v1 has accepted no new consumers since 2026-06-01.',
      replacement: 'https://api.example.com/api/v2/orders/7',
      migration_guide: 'https://docs.example.com/v2',
    });
    expect(answer?.headers.record()).toMatchObject({
      'cache-control': 'no-store',
      'proxy-status': 'sundial; error=http_request_denied',
      deprecation: '@1768435200',
    });
    expect(answer?.headers.get('www-authenticate')).toBeUndefined();
    expect(String(answer?.headers.get('link'))).toContain(
      '<https://api.example.com/api/v2/orders/7>; rel="successor-version"',
    );
  });

  it('only records the reason in `mode: observe`', async () => {
    const { outcome, facts } = await judge({ plan: observed, consumer: 'newcomer' });
    expect([outcome, facts.decision.observed]).toEqual(['forward', 'adoption_frozen']);
  });
});
