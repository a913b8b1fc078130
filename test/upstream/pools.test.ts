import { afterEach, describe, expect, it } from 'vitest';
import { atOnce } from '../../gateway/plan/in-slices.ts';
import type { GatewayPlan, UpstreamPlan } from '../../gateway/plan/plan.ts';
import { connectTarget } from '../../gateway/plane/general/client/http-connections.ts';
import { createPools, type Pools } from '../../gateway/upstream/pools.ts';
import { api, plan, upstream as sample, version } from '../support/exchange-samples.ts';

const TARGET = { origin: 'http://127.0.0.1:1' };
const OTHER = { origin: 'http://127.0.0.1:2' };

const upstream = (changes: Partial<UpstreamPlan> = {}): UpstreamPlan => ({
  ...sample,
  targets: [TARGET],
  ...changes,
});

const planOf = (upstream: UpstreamPlan): GatewayPlan => plan([api([version({ upstream })])]);

describe('pools', () => {
  let pools: Pools;
  afterEach(() => pools.close());

  it('what reaches a target outlives a reload that keeps its address and its manner', () => {
    pools = createPools({ connect: connectTarget });
    const before = upstream();
    atOnce(pools.keepSteps(planOf(before)));
    const route = pools.route(before, TARGET);
    const after = upstream({ name: 'orders-v2', path: '/other', timeouts: { ...sample.timeouts, total: 9 } });
    atOnce(pools.keepSteps(planOf(after)));
    expect(pools.route(after, TARGET)).toBe(route);
  });

  const tls = { ca: undefined, cert: undefined, key: undefined, name: undefined };
  it.each<[string, Partial<UpstreamPlan>]>([
    ['another authority', { tls: { ...tls, ca: 'PEM' } }],
    ['another certificate of its own', { tls: { ...tls, cert: 'PEM', key: 'PEM' } }],
    ['another server name', { tls: { ...tls, name: 'orders.internal' } }],
    ['another Host', { host: 'orders.internal' }],
    ['HTTP/2', { http2: true }],
    ['another number of connections', { connections: { ...sample.connections, max: 1 } }],
    ['another time to connect', { timeouts: { ...sample.timeouts, connect: 2 } }],
  ])('%s makes connections of its own', (_, changes) => {
    pools = createPools({ connect: connectTarget });
    expect(pools.route(upstream(changes), TARGET)).not.toBe(pools.route(upstream(), TARGET));
  });

  it('what no plan uses is closed, and a late request of the old plan leaves none behind', () => {
    pools = createPools({ connect: connectTarget });
    const gone = upstream();
    pools.route(gone, TARGET);
    atOnce(pools.keepSteps(planOf(upstream({ targets: [OTHER] }))));
    expect(pools.size()).toBe(0);
    const late = pools.route(gone, TARGET);
    expect(pools.size()).toBe(1);
    late.dispatched();
    expect(pools.size()).toBe(0);
  });

  it('what a request of the next plan opens between two steps of a reload is kept, and the rest let go', () => {
    pools = createPools({ connect: connectTarget });
    const before = upstream();
    atOnce(pools.keepSteps(planOf(before)));
    pools.route(before, TARGET);
    const after = upstream({ targets: [OTHER] });
    const steps = pools.keepSteps(planOf(after));
    steps.next();
    const route = pools.route(after, OTHER);
    route.dispatched();
    atOnce(steps);
    expect(pools.route(after, OTHER)).toBe(route);
    expect(pools.size()).toBe(1);
  });
});
