// Starts the child processes of the bench, pinned to cores if possible, and stops them.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { createServer } from 'node:net';
import { delimiter, join } from 'node:path';

export interface Child {
  readonly pid: number;
  /** 0 if it announces none. */
  readonly port: number;
  readonly process: ChildProcess;
}

export interface ChildOptions {
  /** File descriptor for standard output, which is the peer's access log. 'inherit' shows it. */
  readonly output: number | 'inherit' | 'ignore';
  /** File descriptor for standard error. Default: shown. */
  readonly errors?: number;
  readonly environment: Readonly<Record<string, string>>;
  /** Words before the command, for example `taskset -c 0`. */
  readonly prefix: readonly string[];
  /** False for a program that cannot send its port to the bench. */
  readonly announces: boolean;
}

const running = new Set<ChildProcess>();
// Also if this process ends early, for example because the reader of its output has closed the pipe.
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

export function portOf(address: ReturnType<ReturnType<typeof createServer>['address']>): number {
  if (address === null || typeof address === 'string') throw new Error('the server listens on no port');
  return address.port;
}

/** Sends the port to the parent process. */
export function announcePort(address: Parameters<typeof portOf>[0]): void {
  process.send?.({ port: portOf(address) });
}

/** Absolute path of an installed program. Debian keeps servers outside the usual PATH. */
export function installed(program: string): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin'];
  return folders.map((folder) => join(folder, program)).find((path) => existsSync(path));
}

/** Starts `node <args>` and waits for its port. Rejects if it ends or has not announced one after 15 s. */
export function startChild(args: readonly string[], options: ChildOptions): Promise<Child> {
  return startProgram([process.execPath, ...args], options);
}

export function startProgram(words: readonly string[], options: ChildOptions): Promise<Child> {
  const [command = '', ...rest] = [...options.prefix, ...words];
  const child = spawn(command, rest, {
    stdio: [
      'ignore',
      options.output,
      options.errors ?? 'inherit',
      ...(options.announces ? (['ipc'] as const) : []),
    ],
    env: { ...process.env, ...options.environment },
  });
  running.add(child);
  child.once('exit', () => running.delete(child));
  return new Promise((resolve, reject) => {
    const name = words.join(' ');
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

/** Resolves with the output. Rejects if the program fails. */
export function runProgram(words: readonly string[]): Promise<string> {
  const [command = '', ...rest] = words;
  return new Promise((resolve, reject) => {
    const child = execFile(command, rest, { maxBuffer: 16 * 1024 * 1024 }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else reject(new Error(`${words.join(' ')} failed: ${stderr || stdout || error.message}`));
    });
    running.add(child);
    child.once('exit', () => running.delete(child));
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

/** Sends SIGTERM to every child, and SIGKILL after two seconds. */
export async function stopChildren(): Promise<void> {
  await Promise.all([...running].map((child) => stopChild(child)));
}

/** Sends SIGTERM, and SIGKILL after `patienceMs`. Resolves after its end. */
export async function stopChild(child: ChildProcess, patienceMs = 2_000): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  const insist = setTimeout(() => child.kill('SIGKILL'), patienceMs);
  await gone;
  clearTimeout(insist);
}
