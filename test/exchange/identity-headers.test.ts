// Identity headers for the upstream: only the gateway's values, whatever the client sends.
import { describe, expect, it } from 'vitest';
import type { ForwardOrder } from '../../gateway/exchange/directive.ts';
import { forwardOrder } from '../../gateway/exchange/steps/forward-order.ts';
import type { UpstreamPlan } from '../../gateway/plan/plan.ts';
import type { Consumer } from '../../gateway/policy/authentication/access.ts';
import { api, plan, upstream as UPSTREAM, version, view } from '../support/exchange-samples.ts';

const WITH_IDENTITY = {
  ...UPSTREAM,
  identityHeaders: { consumer: 'x-consumer-id', scopes: 'x-consumer-scopes' },
  withheld: new Set(['api-version', 'x-consumer-id', 'x-consumer-scopes', 'x-api-key']),
};
const consumer = (id: string, ...scopes: string[]): Consumer => ({
  ...{ id, mayLabelMetrics: true, via: 'key', scopes: new Set(scopes), claims: {} },
});

function orderFor(who: Consumer | undefined, plannedUpstream: UpstreamPlan = WITH_IDENTITY): ForwardOrder {
  const rules = version({ upstream: plannedUpstream });
  const directive = forwardOrder(api(), rules, '', view(), plan().public, undefined, who);
  if (directive.kind !== 'forward') throw new Error('not forwarded');
  return directive.forward;
}

describe('identity headers', () => {
  it('XFF-1: are set for an identified consumer only', () => {
    const known = orderFor(consumer('acme', 'a', 'b'));
    expect(known.setHeaders).toEqual({ 'x-consumer-id': 'acme', 'x-consumer-scopes': 'a b' });
    const anonymous = orderFor(undefined);
    expect(anonymous.setHeaders).toBeUndefined();
  });

  it.each([
    ['Müller & Söhne', 'M%C3%BCller%20&%20S%C3%B6hne'],
    ['50%', '50%25'],
    ['a\r\nX-Admin: 1', 'a%0D%0AX-Admin:%201'],
    ['日本', '%E6%97%A5%E6%9C%AC'],
    ['\ud800x', '%EF%BF%BDx'],
  ])('an id such as %j is sent as visible ASCII', (id, value) => {
    expect(orderFor(consumer(id)).setHeaders).toMatchObject({ 'x-consumer-id': value });
  });

  it('are not set if the upstream has none configured', () => {
    expect(orderFor(consumer('acme'), UPSTREAM).setHeaders).toBeUndefined();
  });
});
