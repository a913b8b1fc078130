// The limit and the bucket of a request at each stage of its version.
import { expect, it } from 'vitest';
import { partsOf, shownQuotas } from '../../../gateway/exchange/steps/rate-limit.ts';
import type { Exception } from '../../../gateway/policy/lifecycle/exceptions.ts';
import { phaseAt } from '../../../gateway/policy/lifecycle/phases.ts';
import { LIMIT, NOW, RULE, version } from '../../support/exchange-samples.ts';

const LOWERED = { ...LIMIT, name: 'deprecated' };
const rule = {
  ...RULE,
  deprecated: LOWERED,
  buckets: { active: 'orders:v1:default', deprecated: 'orders:v1:deprecated' },
};
const ACME = {
  id: 'acme',
  mayLabelMetrics: true,
  via: 'token',
  scopes: new Set<string>(),
  claims: {},
} as const;
const leave = (...from: Exception['from'][number][]): Exception => ({
  ...{ consumer: 'acme', until: NOW + 1, from, why: 'w', by: 'b', phases: [] },
});

it.each<[string, number, readonly Exception[], string, string]>([
  [
    'the day before its deprecation',
    Date.UTC(2026, 0, 15) - 1,
    [],
    'default',
    '{consumer:acme}:orders:v1:default',
  ],
  [
    'from its deprecation on',
    Date.UTC(2026, 0, 15),
    [],
    'deprecated',
    '{consumer:acme}:orders:v1:deprecated',
  ],
  ['after its sunset', Date.UTC(2027, 5, 1), [], 'deprecated', '{consumer:acme}:orders:v1:deprecated'],
  ['with an exception from limits', NOW, [leave('limits')], 'default', '{consumer:acme}:orders:v1:default'],
  ['with another exception', NOW, [leave('sunset')], 'deprecated', '{consumer:acme}:orders:v1:deprecated'],
])('RL-11: a version %s has its own limit and bucket', (_when, now, exceptions, limit, key) => {
  const rules = version({ exceptions, limits: { each: [rule], cost: 3 } });
  const phase = phaseAt(rules.phases, now);
  const parts = partsOf({ version: rules, consumer: ACME, phase }, '192.0.2.1', now);
  expect(parts.map((part) => [part.limit.name, part.key, part.cost])).toEqual([[limit, key, 3]]);
});

it('a response shows the limits of the written path, also a shadow limit counted last', () => {
  const [shadow, all, other] = ['shadow', 'all', 'other'].map((name) => {
    const named = { ...RULE, shadow: name === 'shadow', active: { ...LIMIT, name } };
    return { key: name, limit: named.active, cost: 1, rule: named };
  });
  if (!(shadow && all && other)) throw new Error('three parts');
  const quotas = [all, other, shadow].map(
    ({ limit, rule }) => ({ kind: 'degraded', limit, rule, allowed: true, retryAfterMs: 0 }) as const,
  );
  const shown = (own: number) =>
    shownQuotas(quotas, [shadow, all, other], own)?.map(({ limit }) => limit.name);
  expect(shown(2)).toEqual(['all', 'shadow']);
  expect(shown(3)).toEqual(['all', 'other', 'shadow']);
  expect(shown(0)).toBe(undefined);
});
