// Clients of a gateway with several workers, one for each: who they talk to is known by stopping all others meanwhile.
// The gateway must run in this process, so that its workers are this process's.
import cluster from 'node:cluster';
import { type Client, overHttp2 } from './http-client.ts';

/** Process ids of the workers that run now. */
export function workerPids(): readonly number[] {
  return Object.values(cluster.workers ?? {}).flatMap((worker) => worker?.process.pid ?? []);
}

/** One client for each worker, over a connection that stays with it. `path` is asked for once. */
export async function clientPerWorker(port: number, path: string): Promise<readonly Client[]> {
  const pids = workerPids();
  const clients: Client[] = [];
  for (const pid of pids) {
    const others = pids.filter((other) => other !== pid);
    for (const other of others) process.kill(other, 'SIGSTOP');
    try {
      const client = overHttp2(port);
      await client.ask({ path });
      clients.push(client);
    } finally {
      for (const other of others) process.kill(other, 'SIGCONT');
    }
  }
  return clients;
}
