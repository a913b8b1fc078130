// A real Redis Cluster of processes on free ports, ready in about a second.
import { Redis } from 'ioredis';
import { freePorts } from './ports.ts';
import { type RunningRedis, startRedis } from './redis-server.ts';
import { untilTrue } from './until-true.ts';

const SLOTS = 16_384;

export interface RunningCluster extends AsyncDisposable {
  /** Names the first primary and an address without a listener. */
  readonly url: string;
  /** The slots are split into equal parts, in this order. */
  readonly primaries: readonly ClusterNode[];
  /** One after the other for each primary. */
  readonly replicas: readonly ClusterNode[];
}

export interface ClusterNode {
  readonly server: RunningRedis;
  readonly id: string;
  /** Sends a command to this node only. */
  readonly byHand: (...command: readonly [string, ...(readonly (string | number)[])]) => Promise<unknown>;
}

/** `nodeTimeoutMs`: after which time nodes give up a node that does not answer. */
export async function startRedisCluster(options: {
  readonly primaries: number;
  readonly replicasEach?: number;
  readonly nodeTimeoutMs?: number;
}): Promise<RunningCluster> {
  const { primaries: count, replicasEach = 0, nodeTimeoutMs = 2_000 } = options;
  await using stack = new AsyncDisposableStack();
  const all = count * (1 + replicasEach);
  const ports = await freePorts(2 * all + 1);
  const open = async (port: number, bus: number): Promise<ClusterNode & { readonly bus: number }> => {
    const cluster = ['--cluster-enabled', 'yes', '--cluster-port', String(bus)];
    const timeout = ['--cluster-node-timeout', String(nodeTimeoutMs), '--repl-diskless-sync-delay', '0'];
    const server = stack.adopt(await startRedis({ port, more: [...cluster, ...timeout] }), ({ stop }) =>
      stop(),
    );
    const hand = new Redis({
      port,
      retryStrategy: () => 50,
      maxRetriesPerRequest: 0,
      disableClientInfo: true,
    });
    hand.on('error', () => undefined);
    stack.defer(() => hand.disconnect());
    const byHand: ClusterNode['byHand'] = (command, ...rest) => hand.call(command, ...rest);
    return { server, bus, byHand, id: String(await byHand('CLUSTER', 'MYID')) };
  };
  const nodes = await Promise.all(
    Array.from({ length: all }, (_, index) => open(ports[2 * index] ?? 0, ports[2 * index + 1] ?? 0)),
  );
  const [primaries, replicas] = [nodes.slice(0, count), nodes.slice(count)];

  await Promise.all(
    primaries.map(({ byHand }, index) => {
      const [from, to] = [index, index + 1].map((part) => Math.floor((part * SLOTS) / count));
      return byHand('CLUSTER', 'ADDSLOTSRANGE', from ?? 0, (to ?? 0) - 1);
    }),
  );
  for (const [index, { byHand }] of nodes.entries()) {
    // Otherwise all nodes start with the same epoch and need a vote to settle it.
    await byHand('CLUSTER', 'SET-CONFIG-EPOCH', index + 1);
  }
  for (const { server, bus } of nodes.slice(1)) {
    await nodes[0]?.byHand('CLUSTER', 'MEET', '127.0.0.1', server.port, bus);
  }
  const says = (node: ClusterNode, ...texts: readonly string[]) =>
    untilTrue(async () => {
      const info = String(await node.byHand('CLUSTER', 'INFO'));
      return texts.every((text) => info.includes(text));
    });
  await Promise.all(nodes.map((node) => says(node, `cluster_known_nodes:${all}`)));
  await Promise.all(
    replicas.map(async (replica, index) => {
      await replica.byHand('CLUSTER', 'REPLICATE', primaries[index % count]?.id ?? '');
      await untilTrue(async () =>
        String(await replica.byHand('INFO', 'replication')).includes('link_status:up'),
      );
    }),
  );
  await Promise.all(nodes.map((node) => says(node, 'cluster_state:ok')));
  const moved = stack.move();
  return {
    url: `redis+cluster://127.0.0.1:${ports[2 * all]},127.0.0.1:${primaries[0]?.server.port}`,
    primaries,
    replicas,
    [Symbol.asyncDispose]: () => moved.disposeAsync(),
  };
}
