// The workers of a gateway in this process, and clients for each: the other workers are stopped meanwhile.
import { execFileSync } from 'node:child_process';
import { type Client, overHttp2 } from './http-client.ts';

export function workersOf(pid: number): readonly number[] {
  try {
    return execFileSync('pgrep', ['-P', String(pid), '-f', 'worker.[jt]s'], { encoding: 'utf8' })
      .split('\n')
      .filter((line) => line !== '')
      .map(Number);
  } catch {
    return []; // pgrep exits with 1 if there is none
  }
}

export function workerPids(): readonly number[] {
  return workersOf(process.pid);
}

/** One client per worker, with a connection that stays with it. Sends one request for `path` to each. */
export async function clientPerWorker(port: number, path: string): Promise<readonly Client[]> {
  return forEachWorker(async () => {
    const client = overHttp2(port);
    await client.ask({ path });
    return client;
  });
}

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
