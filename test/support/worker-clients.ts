// The workers of a gateway, and clients for each: who they talk to is known by stopping all others meanwhile.
// For the clients the gateway must run in this process, so that its workers are this process's.
import { execFileSync } from 'node:child_process';
import { type Client, overHttp2 } from './http-client.ts';

/** Process ids of the workers that the gateway with this process id has now. */
export function workersOf(pid: number): readonly number[] {
  try {
    return execFileSync('pgrep', ['-P', String(pid), '-f', 'worker.[jt]s'], { encoding: 'utf8' })
      .split('\n')
      .filter((line) => line !== '')
      .map(Number);
  } catch {
    return []; // pgrep ends with 1 where there is none
  }
}

/** Process ids of the workers of a gateway in this process. */
export function workerPids(): readonly number[] {
  return workersOf(process.pid);
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
