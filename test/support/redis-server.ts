// Starts a Redis server that a test can stop, kill and restart.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findRedisProgram, systemEnvironment } from './find-redis.ts';
import { freePorts } from './ports.ts';
import type { RedisProgram } from './unpack-redis.ts';

export interface RunningRedis {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** Kills it (SIGKILL) and waits for its end. May be called twice. */
  readonly stop: () => Promise<void>;
  /** Stops it (SIGSTOP): its port accepts connections but does not answer. */
  readonly pause: () => void;
  readonly resume: () => void;
}

/**
 * Starts a server on 127.0.0.1 without persistence and waits until it responds. Default `port`: a free one.
 * With the port of a stopped server it restarts that server empty.
 */
export async function startRedis(
  options: {
    readonly port?: number;
    readonly program?: RedisProgram;
    readonly more?: readonly string[];
    /** A file that the server may write to, as a sentinel does. */
    readonly configuration?: string;
    /** The output that shows it is ready. */
    readonly saysReady?: string;
  } = {},
): Promise<RunningRedis> {
  const program = options.program ?? (await findRedisProgram(systemEnvironment()));
  const [free = 0] = options.port ? [] : await freePorts(1);
  const port = options.port || free;
  const folder = mkdtempSync(join(tmpdir(), 'sundial-redis-'));
  const file = join(folder, 'redis.conf');
  if (options.configuration !== undefined) writeFileSync(file, options.configuration);
  const child = spawn(
    program.command,
    [
      ...(options.configuration === undefined ? [] : [file]),
      ...['--bind', '127.0.0.1', '--port', String(port), '--dir', folder, '--save', '', '--appendonly', 'no'],
      ...(options.more ?? []),
    ],
    { stdio: ['ignore', 'pipe', 'pipe'], env: environmentFor(program) },
  );
  const gone = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const kill = (): void => void child.kill('SIGKILL');
  process.once('exit', kill);

  const stop = async (): Promise<void> => {
    kill();
    await gone;
    process.removeListener('exit', kill);
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const pid = await untilReady(child, options.saysReady ?? 'Ready to accept connections');
    return {
      url: `redis://127.0.0.1:${port}`,
      port,
      pid,
      stop,
      pause: () => void child.kill('SIGSTOP'),
      resume: () => void child.kill('SIGCONT'),
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function environmentFor(program: RedisProgram): NodeJS.ProcessEnv {
  return program.libraryPath === undefined
    ? process.env
    : { ...process.env, LD_LIBRARY_PATH: program.libraryPath };
}

/** The process id, once the server accepts connections. */
function untilReady(child: ChildProcess, saysReady: string): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  let said = '';
  const listen = (chunk: Buffer): void => {
    said += chunk.toString();
    if (said.includes(saysReady) && child.pid !== undefined) resolve(child.pid);
  };
  child.stdout?.on('data', listen);
  child.stderr?.on('data', listen);
  child.once('error', reject);
  child.once('close', (code) => reject(new Error(`the Redis server ended with code ${code}:\n${said}`)));
  return promise;
}
