// The limits and the observed reasons for operations and exceptions at any instant.
import { describe, expect, it } from 'vitest';
import { planOf } from '../plan/workspace.ts';
import { judge, OBSERVED, POLICY, type Situation } from './judged-orders.ts';

describe('RL-11: the bucket', () => {
  it.each<[string, Situation, string, number]>([
    ['of a version', { at: '2026-01-14' }, 'orders:v1:default', 600],
    ['of a deprecated version', { at: '2026-01-15' }, 'orders:v1:deprecated', 300],
    [
      'of an operation without its own rate',
      { at: '2026-01-15', path: '/api/v1/orders/open', method: 'POST' },
      'orders:v1:deprecated',
      300,
    ],
    [
      'of an operation before its deprecation',
      { at: '2025-05-31', path: '/api/v1/orders/old/7' },
      'orders:v1:default',
      600,
    ],
    [
      'of an operation deprecated before its version',
      { at: '2025-06-01', path: '/api/v1/orders/old/7' },
      'orders:v1 GET /old/{id}:deprecated',
      300,
    ],
    [
      'of an operation with its own rate',
      { at: '2026-01-14', path: '/api/v1/orders/heavy' },
      'orders:v1 GET /heavy:default',
      60,
    ],
    [
      'of that operation after the deprecation of its version',
      { at: '2026-01-15', path: '/api/v1/orders/heavy' },
      'orders:v1 GET /heavy:deprecated',
      30,
    ],
  ])('%s has the expected key and rate', async (_, situation, key, units) => {
    const { taken } = await judge({ consumer: 'other', ...situation });
    expect(taken?.key.endsWith(`}:${key}`)).toBe(true);
    expect(taken?.limit.units).toBe(units);
  });

  it('a lowered rate of the version does not raise the lower rate of an operation', async () => {
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

  it('of a consumer with an exception has the full rate until the exception ends', async () => {
    const during = await judge({ at: '2026-11-30', consumer: 'acme' });
    expect(during.taken).toMatchObject({ key: '{consumer:acme}:orders:v1:default', limit: { units: 600 } });
    const after = await judge({ at: '2026-12-01', consumer: 'acme' });
    expect(after.taken).toMatchObject({ key: '{consumer:acme}:orders:v1:deprecated', limit: { units: 300 } });
  });
});

describe('mode: observe', () => {
  it.each<[string, Situation, string | undefined, string]>([
    ['records nothing for a request that would pass', { at: '2026-11-20' }, undefined, 'forward'],
    ['serves a version after its sunset', { at: '2027-08-01' }, 'version_retired', 'forward'],
    ['records the limit', { at: '2026-11-20', allowed: false }, 'rate_limited', 'forward'],
    ['records an unavailable store', { at: '2026-11-20', storeAway: true }, 'limits_unavailable', 'forward'],
    [
      'records one reason per request, the first',
      { at: '2027-08-01', allowed: false },
      'version_retired',
      'forward',
    ],
    [
      'does not serve an ended version without an upstream',
      { at: '2027-08-01', path: '/api/v0/orders' },
      undefined,
      'version_moved',
    ],
    [
      'records nothing for an excepted consumer',
      { at: '2027-01-15', consumer: 'acme' },
      undefined,
      'forward',
    ],
  ])('%s', async (_, situation, reason, outcome) => {
    const { outcome: actual, facts } = await judge({ plan: OBSERVED, consumer: 'other', ...situation });
    expect(actual).toBe(outcome);
    expect(facts.decision.observed).toBe(reason);
  });

  it('still requires tokens and scopes', async () => {
    const { outcome, facts } = await judge({ plan: OBSERVED, at: '2027-08-01' });
    expect(outcome).toBe('credentials_missing');
    expect(facts.decision.observed).toBe('version_retired');
  });

  it('keeps the lowered limit after the sunset', async () => {
    const { taken } = await judge({ plan: OBSERVED, at: '2027-08-01', consumer: 'other' });
    expect(taken?.limit.name).toBe('deprecated');
  });
});
