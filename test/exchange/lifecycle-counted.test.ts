// Operations, exceptions and observation in what is counted: one policy file, judged at any instant.
// The order of judgement stands in lifecycle-order.test.ts.
import { describe, expect, it } from 'vitest';
import { planOf } from '../plan/workspace.ts';
import { judge, OBSERVED, POLICY, type Situation } from './judged-orders.ts';

describe('RL-11: what is counted together', () => {
  it.each<[string, Situation, string, number]>([
    ['a version', { at: '2026-01-14' }, 'orders:v1:default', 600],
    ['a deprecated version', { at: '2026-01-15' }, 'orders:v1:deprecated', 300],
    [
      'an operation like its version',
      { at: '2026-01-15', path: '/api/v1/orders/open', method: 'POST' },
      'orders:v1:deprecated',
      300,
    ],
    [
      'an operation not yet deprecated',
      { at: '2025-05-31', path: '/api/v1/orders/old/7' },
      'orders:v1:default',
      600,
    ],
    [
      'an operation deprecated before its version',
      { at: '2025-06-01', path: '/api/v1/orders/old/7' },
      'orders:v1 GET /old/{id}:deprecated',
      300,
    ],
    [
      'an operation with a rate of its own',
      { at: '2026-01-14', path: '/api/v1/orders/heavy' },
      'orders:v1 GET /heavy:default',
      60,
    ],
    [
      'the same, lowered',
      { at: '2026-01-15', path: '/api/v1/orders/heavy' },
      'orders:v1 GET /heavy:deprecated',
      30,
    ],
  ])('%s', async (_, situation, key, units) => {
    const { taken } = await judge({ consumer: 'other', ...situation });
    expect(taken?.key.endsWith(`}:${key}`)).toBe(true);
    expect(taken?.limit.units).toBe(units);
  });

  it('a lowered rate of the version does not raise the smaller one of an operation', async () => {
    const plan = await planOf(POLICY.replace('deprecated: 50%', 'deprecated: 300/1m'));
    const { taken } = await judge({
      plan,
      at: '2026-01-15',
      path: '/api/v1/orders/heavy',
      consumer: 'other',
    });
    expect(taken?.limit).toMatchObject({ name: 'deprecated', units: 60 });
    expect((await judge({ plan, at: '2026-01-15', consumer: 'other' })).taken?.limit.units).toBe(300);
  });

  it('with leave from lowered limits the full one counts on, until it ends', async () => {
    const during = await judge({ at: '2026-11-30', consumer: 'acme' });
    expect(during.taken).toMatchObject({ key: '{consumer:acme}:orders:v1:default', limit: { units: 600 } });
    const after = await judge({ at: '2026-12-01', consumer: 'acme' });
    expect(after.taken).toMatchObject({ key: '{consumer:acme}:orders:v1:deprecated', limit: { units: 300 } });
  });
});

describe('mode: observe', () => {
  it.each<[string, Situation, string | undefined, string]>([
    ['what would pass is not noted', { at: '2026-11-20' }, undefined, 'forward'],
    ['a version past its sunset is served', { at: '2027-08-01' }, 'version_retired', 'forward'],
    ['the limit is noted', { at: '2026-11-20', allowed: false }, 'rate_limited', 'forward'],
    ['a store that is away is noted', { at: '2026-11-20', storeAway: true }, 'limits_unavailable', 'forward'],
    [
      'one request is noted once, for what comes first',
      { at: '2027-08-01', allowed: false },
      'version_retired',
      'forward',
    ],
    [
      'without an upstream the end stands',
      { at: '2027-08-01', path: '/api/v0/orders' },
      undefined,
      'version_moved',
    ],
    ['who has leave is not noted', { at: '2027-01-15', consumer: 'acme' }, undefined, 'forward'],
  ])('%s', async (_, situation, reason, outcome) => {
    const { outcome: actual, facts } = await judge({ plan: OBSERVED, consumer: 'other', ...situation });
    expect(actual).toBe(outcome);
    expect(facts.decision.observed).toBe(reason);
  });

  it('tokens and scopes are asked for as ever', async () => {
    const { outcome, facts } = await judge({ plan: OBSERVED, at: '2027-08-01' });
    expect(outcome).toBe('credentials_missing');
    expect(facts.decision.observed).toBe('version_retired');
  });

  it('past the sunset the lowered limit goes on', async () => {
    const { taken } = await judge({ plan: OBSERVED, at: '2027-08-01', consumer: 'other' });
    expect(taken?.limit.name).toBe('deprecated');
  });
});
