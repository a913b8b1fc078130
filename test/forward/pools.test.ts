import { afterEach, describe, expect, it } from 'vitest';
import { createPools, type Pools } from '../../gateway/forward/pools.ts';
import type { GatewayPlan, UpstreamPlan } from '../../gateway/plan/plan.ts';
import { api, plan, version } from '../support/exchange-samples.ts';

const upstream = (...origins: string[]): UpstreamPlan => ({
  name: 'orders-v1',
  targets: origins.map((origin) => ({ origin })),
  path: '',
  versionHeader: undefined,
  versionQuery: undefined,
  authorization: 'keep',
  timeouts: { connect: 1, headers: 1, idle: 1, total: 1 },
});

const planOf = (upstream: UpstreamPlan): GatewayPlan => plan([api([version({ upstream })])]);

describe('pools', () => {
  let pools: Pools;
  afterEach(() => pools.close());

  it('targets take turns', () => {
    pools = createPools({ connections: 1 });
    const both = upstream('http://127.0.0.1:1', 'http://127.0.0.1:2');
    const origins = [1, 2, 3, 4].map(() => pools.route(both).origin.at(-1));
    expect(origins).toEqual(['1', '2', '1', '2']);
  });

  it('a pool outlives a reload that keeps its origin and settings', () => {
    pools = createPools({ connections: 1 });
    const before = upstream('http://127.0.0.1:1');
    pools.keepOnly(planOf(before));
    const { pool } = pools.route(before);
    const after = upstream('http://127.0.0.1:1');
    pools.keepOnly(planOf(after));
    expect(pools.route(after).pool).toBe(pool);
    expect(pool.closed).toBe(false);
  });

  it('a pool no plan uses is closed, and a late request of the old plan leaves none behind', () => {
    pools = createPools({ connections: 1 });
    const gone = upstream('http://127.0.0.1:1');
    const { pool } = pools.route(gone);
    pools.keepOnly(planOf(upstream('http://127.0.0.1:2')));
    expect(pool.closed).toBe(true);
    const late = pools.route(gone);
    expect(late.pool.closed).toBe(false);
    late.dispatched();
    expect(late.pool.closed).toBe(true);
    expect(pools.size()).toBe(0);
  });
});
