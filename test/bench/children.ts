// The bench's child processes: started pinned where the machine allows it, announced by port, stopped by process id.
// run.ts starts them; conventional.ts, plain.ts and upstream.ts announce themselves.
import { type ChildProcess, spawn } from 'node:child_process';
import { createServer } from 'node:net';

export interface Child {
  readonly pid: number;
  /** The port it announced; 0 for a child that announces none. */
  readonly port: number;
  readonly process: ChildProcess;
}

export interface ChildOptions {
  /** File descriptor for standard output, which is the peers' access log; 'inherit' shows it. */
  readonly output: number | 'inherit' | 'ignore';
  readonly environment: Readonly<Record<string, string>>;
  /** What to put before the node binary, for example `taskset -c 0`. */
  readonly prefix: readonly string[];
  /** False for a program that does not know the bench and so cannot tell its port. */
  readonly announces: boolean;
}

const running = new Set<ChildProcess>();
// However this process ends, such as by a reader of its output that has left, nobody else knows of them.
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** The port of a listening server's `address()`. */
export function portOf(address: ReturnType<ReturnType<typeof createServer>['address']>): number {
  if (address === null || typeof address === 'string') throw new Error('the server listens on no port');
  return address.port;
}

/** Tells the runner where this child listens. */
export function announcePort(address: Parameters<typeof portOf>[0]): void {
  process.send?.({ port: portOf(address) });
}

/** A port that was free a moment ago, for the one peer that must be told its port. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const port = portOf(server.address());
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Starts `node <args>`; resolves when it has announced its port, rejects when it ends or says nothing for 15 s. */
export function startChild(args: readonly string[], options: ChildOptions): Promise<Child> {
  const [command = process.execPath, ...rest] = [...options.prefix, process.execPath, ...args];
  const child = spawn(command, rest, {
    stdio: ['ignore', options.output, 'inherit', ...(options.announces ? (['ipc'] as const) : [])],
    env: { ...process.env, ...options.environment },
  });
  running.add(child);
  child.once('exit', () => running.delete(child));
  return new Promise((resolve, reject) => {
    const name = args.join(' ');
    const settled = (port: number): void => {
      clearTimeout(timer);
      resolve({ pid: child.pid ?? 0, port, process: child });
    };
    const timer = setTimeout(() => reject(new Error(`${name} announced no port within 15 s`)), 15_000);
    child.once('error', reject);
    child.once('exit', (code, signal) => reject(new Error(`${name} ended early (${code ?? signal})`)));
    if (options.announces) child.once('message', (message) => settled(announced(message)));
    else child.once('spawn', () => settled(0));
  });
}

function announced(message: unknown): number {
  if (
    typeof message === 'object' &&
    message !== null &&
    'port' in message &&
    typeof message.port === 'number'
  ) {
    return message.port;
  }
  throw new Error('a child announced something that is not a port');
}

/** Ends every child that still runs: SIGTERM by process id, SIGKILL after two seconds. */
export async function stopChildren(): Promise<void> {
  await Promise.all([...running].map((child) => stopChild(child)));
}

/** Ends one child, after `patienceMs` by force; resolves when it is gone. */
export async function stopChild(child: ChildProcess, patienceMs = 2_000): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  const insist = setTimeout(() => child.kill('SIGKILL'), patienceMs);
  await gone;
  clearTimeout(insist);
}
