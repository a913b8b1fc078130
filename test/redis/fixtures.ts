// The gateways of test:redis and their faults: a single server, a missing one, sentinels, a cluster.
import { join } from 'node:path';
import { openFaulty } from '../faults/gateway.ts';
import { overHttp1 } from '../support/http-client.ts';
import { freePorts } from '../support/ports.ts';
import { type ClusterNode, startRedisCluster } from '../support/redis-cluster.ts';
import { startFaultyRedis } from '../support/redis-faults.ts';
import { startSentinels } from '../support/redis-sentinels.ts';
import { startRedis } from '../support/redis-server.ts';
import { untilTrue } from '../support/until-true.ts';
import { type Fault, singleFaults } from './faults.ts';
import { type Asked, MODES } from './measure.ts';

const POLICIES = join(import.meta.dirname, 'policies/*.yaml');
const WARM_UP = 200;
/** Longer than the measurement. */
const FAILS_OVER_AFTER_MS = 4_000;

export interface Fixture {
  readonly asked: Asked;
  readonly faults: readonly Fault[];
}

export type OpenFixture = (stack: AsyncDisposableStack, echo: string) => Promise<Fixture>;

/** Ready and warmed up: code that has not run yet is slow. */
export async function openGateway(stack: AsyncDisposableStack, echo: string, store: string): Promise<Asked> {
  const fixture = stack.use(await openFaulty({ POLICIES, ECHO: echo, STORE: store }));
  const client = stack.use(overHttp1(fixture.https));
  for (let call = 0; call < WARM_UP; call += 1) {
    await client.ask({ path: `/api/${MODES[call % MODES.length]}` });
  }
  return { fixture, client };
}

export const single: OpenFixture = async (stack, echo) => {
  const redis = stack.use(await startFaultyRedis());
  return { asked: await openGateway(stack, echo, redis.url), faults: singleFaults(redis) };
};

export const downAtStart: OpenFixture = async (stack, echo) => {
  const [port = 0] = await freePorts(1);
  const asked = await openGateway(stack, echo, `redis://127.0.0.1:${port}`);
  const come = async () => void stack.adopt(await startRedis({ port }), ({ stop }) => stop());
  return {
    asked,
    faults: [
      { what: 'down at the start', makes: 'away', hasBegun: true, befall: () => undefined, lift: come },
    ],
  };
};

export const behindSentinels: OpenFixture = async (stack, echo) => {
  const sentinels = stack.use(
    await startSentinels({ password: 'data', sentinelPassword: 'watch', downAfterMs: FAILS_OVER_AFTER_MS }),
  );
  const promoted = () => untilTrue(async () => (await sentinels.known()) === sentinels.replica.port);
  return {
    asked: await openGateway(stack, echo, sentinels.url(':data@:watch@')),
    faults: [
      {
        what: 'failing over, by sentinels',
        makes: 'away',
        befall: () => sentinels.primary.pause(),
        lift: promoted,
      },
    ],
  };
};

export const inCluster: OpenFixture = async (stack, echo) => {
  const cluster = stack.use(
    await startRedisCluster({ primaries: 3, replicasEach: 1, nodeTimeoutMs: FAILS_OVER_AFTER_MS }),
  );
  const asked = await openGateway(stack, echo, cluster.url);
  const holdsAll = await holderOfTheLimits(cluster.primaries);
  const others = cluster.primaries.filter((node) => node !== holdsAll);
  return {
    asked,
    faults: [
      {
        what: 'failing over, in a cluster',
        makes: 'partly away',
        befall: () => holdsAll.server.stop(),
        lift: () => untilTrue(() => isWholeWithout(holdsAll, [...others, ...cluster.replicas])),
      },
    ],
  };
};

/** The view of the remaining nodes after they have noticed the failure. */
async function isWholeWithout(gone: ClusterNode, left: readonly ClusterNode[]): Promise<boolean> {
  const info = await Promise.all(left.map(({ byHand }) => byHand('CLUSTER', 'INFO')));
  const nodes = String(await left[0]?.byHand('CLUSTER', 'NODES')).split('\n');
  const holders = nodes.filter((line) => line.includes('master') && /\d+-\d+$/.test(line));
  const areAlive = holders.length === 3 && holders.every((line) => !line.startsWith(gone.id));
  return areAlive && info.every((each) => String(each).includes('cluster_state:ok'));
}

async function holderOfTheLimits(nodes: readonly ClusterNode[]): Promise<ClusterNode> {
  for (const node of nodes) {
    const keys = await node.byHand('KEYS', 'sundial:limit:*refuse*');
    if (Array.isArray(keys) && keys.length > 0) return node;
  }
  throw new Error('nobody holds the limits');
}
