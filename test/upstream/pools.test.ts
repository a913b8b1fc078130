// Which connections survive reloads and changed addresses, with a transport that records calls.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { GatewayPlan, UpstreamPlan } from '../../gateway/plan/plan.ts';
import { atOnce } from '../../gateway/system/time-slices.ts';
import type { TargetConnections } from '../../gateway/upstream/call.ts';
import { createDeadlines, processClock } from '../../gateway/upstream/deadlines.ts';
import { createPools, type Pools, probeThrough } from '../../gateway/upstream/upstreams.ts';
import { api, plan, upstream as sample, version } from '../support/exchange-samples.ts';

const TARGET = { origin: 'http://127.0.0.1:1' };
const OTHER = { origin: 'http://127.0.0.1:2' };

const upstream = (changes: Partial<UpstreamPlan> = {}): UpstreamPlan => ({
  ...sample,
  targets: [TARGET],
  ...changes,
});

const planOf = (upstream: UpstreamPlan): GatewayPlan => plan([api([version({ upstream })])]);

let calls: string[] = [];

function connect(origin: string): TargetConnections {
  return {
    call: () => () => undefined,
    probe: async () => undefined,
    follow: (addresses) => void calls.push(`follow ${[...addresses].join(' ')}`),
    retire: () => void calls.push(`retire ${origin}`),
    destroy: async () => undefined,
  };
}

const startDeadline = createDeadlines(processClock);
let pools: Pools;
beforeEach(() => {
  calls = [];
});
afterEach(() => pools.close());

describe('pools', () => {
  it('connections survive a reload that keeps their address and settings', () => {
    pools = createPools({ connect, startDeadline });
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
    ['another client certificate', { tls: { ...tls, cert: 'PEM', key: 'PEM' } }],
    ['another server name', { tls: { ...tls, name: 'orders.internal' } }],
    ['another Host', { host: 'orders.internal' }],
    ['HTTP/2', { http2: true }],
    ['another connection limit', { connections: { ...sample.connections, max: 1 } }],
    ['another connect timeout', { timeouts: { ...sample.timeouts, connect: 2 } }],
  ])('%s gets its own connections', (_, changes) => {
    pools = createPools({ connect, startDeadline });
    expect(pools.route(upstream(changes), TARGET)).not.toBe(pools.route(upstream(), TARGET));
  });

  it('unused connections are closed, also those of a late request of the old plan', () => {
    pools = createPools({ connect, startDeadline });
    const gone = upstream();
    pools.route(gone, TARGET);
    atOnce(pools.keepSteps(planOf(upstream({ targets: [OTHER] }))));
    expect(pools.size()).toBe(0);
    expect(calls).toEqual([`retire ${TARGET.origin}`]);
    const late = pools.route(gone, TARGET);
    expect(pools.size()).toBe(1);
    late.dispatched();
    expect(pools.size()).toBe(0);
  });

  it('a connection opened for the next plan during a reload is kept, and others are closed', () => {
    pools = createPools({ connect, startDeadline });
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

  it('the connection of a late health check is closed', async () => {
    pools = createPools({ connect, startDeadline });
    atOnce(pools.keepSteps(planOf(upstream({ targets: [OTHER] }))));
    const rules = { path: '/', every: 1, timeout: 1, healthy: 1, unhealthy: 1 };
    const { signal } = new AbortController();
    await probeThrough(pools)({ upstream: upstream(), target: TARGET, rules, signal });
    expect(calls).toEqual([`retire ${TARGET.origin}`]);
    expect(pools.size()).toBe(0);
  });
});

describe('a repeated lookup of a host name', () => {
  let addresses = ['10.0.0.1'];

  /** The calls to the connections of `target` within one lookup interval. */
  async function look(target: { readonly origin: string }): Promise<string[]> {
    vi.useFakeTimers();
    pools = createPools({
      connect,
      startDeadline,
      lookupEveryMs: 1_000,
      findAddresses: (_name, callback) =>
        callback(
          null,
          addresses.map((address) => ({ address, family: 4 })),
        ),
    });
    pools.route(upstream({ targets: [target] }), target);
    await vi.advanceTimersByTimeAsync(1_000);
    vi.useRealTimers();
    return calls;
  }

  it('passes the new addresses to the connections', async () => {
    addresses = ['10.0.0.1', '10.0.0.2'];
    expect(await look({ origin: 'http://orders.internal:8080' })).toEqual(['follow 10.0.0.1 10.0.0.2']);
  });

  it('passes nothing if no address is found, and is skipped for an IP address', async () => {
    addresses = [];
    expect(await look({ origin: 'http://orders.internal:8080' })).toEqual([]);
    await pools.close();
    expect(await look(TARGET)).toEqual([]);
  });
});
