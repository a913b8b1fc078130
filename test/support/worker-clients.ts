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
  return forEachWorker(async () => {
    const client = overHttp2(port);
    await client.ask({ path });
    return client;
  });
}

/** What `ask` finds, run once for each worker while all others are stopped. */
export async function forEachWorker<T>(ask: () => Promise<T>): Promise<readonly T[]> {
  const pids = workerPids();
  const found: T[] = [];
  for (const pid of pids) {
    const others = pids.filter((other) => other !== pid);
    for (const other of others) process.kill(other, 'SIGSTOP');
    try {
      found.push(await ask());
    } finally {
      for (const other of others) process.kill(other, 'SIGCONT');
    }
  }
  return found;
}
