// How long the idempotency step locks a key, by the total timeout of the upstream.
import { expect, it } from 'vitest';
import { settle } from '../../../gateway/exchange/exchange.ts';
import type { ExchangePorts } from '../../../gateway/exchange/ports.ts';
import { forwardOrder } from '../../../gateway/exchange/steps/forward-order.ts';
import { claimThenForward } from '../../../gateway/exchange/steps/idempotency.ts';
import { idempotencyOf } from '../../../gateway/sections/idempotency/compile.ts';
import { api, deprecatedFacts, NOW, plan, upstream, version, view } from '../../support/exchange-samples.ts';
import { NEW_KEYS } from '../../support/new-keys.ts';

it.each([1_000, 600_000])('IDM-5: a lock outlasts a total timeout of %i ms', async (total) => {
  const locks: number[] = [];
  const rules = idempotencyOf([{ anonymous: 'address' }]);
  if (rules === undefined) throw new Error('no rules');
  const idempotency: ExchangePorts['idempotency'] = {
    ...NEW_KEYS,
    claim: async (_key, _owner, lockMs) => {
      locks.push(lockMs);
      return { kind: 'claimed' };
    },
  };
  const request = view({ method: 'POST', headers: { 'idempotency-key': 'k' } });
  const patient = version({ upstream: { ...upstream, timeouts: { ...upstream.timeouts, total } } });
  const { forward } = forwardOrder(api([patient]), patient, '/7', request, plan().public);
  const ports = {
    idempotency,
    monotonic: () => 0,
    wallClock: () => NOW,
    onFault: () => undefined,
  } as unknown as ExchangePorts;
  const judging = claimThenForward(forward, rules, {
    match: { route: api([patient]), tail: '/7' },
    ...{ view: request, facts: deprecatedFacts(), ports },
  });
  const directive = await settle(judging);
  expect(directive.kind).toBe('forward');
  expect(locks).toEqual([expect.any(Number)]);
  expect(locks[0]).toBeGreaterThan(total + 5_000);
  expect(locks[0]).toBeLessThan(total + 60_000);
});
