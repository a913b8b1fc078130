// Finds a Redis for tests: a given URL, a server on the PATH, or packages unpacked into the project.
import { accessSync, constants, existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type RedisProgram, unpackRedis } from './unpack-redis.ts';

export type FoundRedis =
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 'program'; readonly program: RedisProgram };

export interface RedisEnvironment {
  readonly redisUrl: string | undefined;
  /** The absolute path of a command; undefined if it is not on the PATH. */
  readonly onPath: (command: string) => string | undefined;
  /** Undefined on systems other than Debian and Ubuntu. */
  readonly unpack: (() => Promise<RedisProgram>) | undefined;
  /** The command that installs a server on this system. */
  readonly installLine: string;
}

export async function findRedis(environment: RedisEnvironment): Promise<FoundRedis> {
  if (environment.redisUrl) return { kind: 'url', url: environment.redisUrl };
  return { kind: 'program', program: await findRedisProgram(environment) };
}

/** redis-server or valkey-server on the PATH, or unpacked packages. @throws Error with an install command */
export async function findRedisProgram(environment: RedisEnvironment): Promise<RedisProgram> {
  const command = environment.onPath('redis-server') ?? environment.onPath('valkey-server');
  if (command !== undefined) return { command, libraryPath: undefined };
  const missing = `the tests need a Redis server and found none; install it with: ${environment.installLine}`;
  if (environment.unpack === undefined) throw new Error(missing);
  try {
    return await environment.unpack();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`${missing}\n(unpacking its packages into .cache/redis failed: ${reason})`, {
      cause: error,
    });
  }
}

export function systemEnvironment(): RedisEnvironment {
  const debian = existsSync('/etc/debian_version');
  const cache = join(import.meta.dirname, '../../.cache/redis');
  return {
    redisUrl: process.env.REDIS_URL,
    onPath: commandOnPath,
    unpack: debian ? () => unpackRedis(cache) : undefined,
    installLine: installLine(debian),
  };
}

function commandOnPath(command: string): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  return folders.map((folder) => join(folder, command)).find(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function installLine(debian: boolean): string {
  if (debian) return 'sudo apt-get install redis-server';
  return process.platform === 'darwin' ? 'brew install redis' : 'sudo dnf install redis (or set REDIS_URL)';
}
