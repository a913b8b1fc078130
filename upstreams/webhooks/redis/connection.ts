// The Redis connections of the webhooks store: one that fails fast, and one for the workers that waits.
import { readFileSync } from 'node:fs';
import { Redis, type RedisOptions } from 'ioredis';
import { StoreUnavailable } from '../store.ts';

const CONNECT_WITHIN_MS = 2_000;
const ANSWER_WITHIN_MS = 2_000;
const LONGEST_BACK_OFF_MS = 1_000;

export interface Connection {
  /** For calls of requests: fails fast and never resends a command. */
  readonly redis: Redis;
  /** Rejects with `StoreUnavailable` for any failure. */
  readonly ask: <T>(command: (redis: Redis) => Promise<T>) => Promise<T>;
  /** A script of this folder by its file name without `.lua`. Rejects with `StoreUnavailable`. */
  readonly script: (name: string) => (key: string, args: readonly (string | number)[]) => Promise<unknown>;
  /** A further connection for a worker. Its commands wait until Redis is back. */
  readonly forWorker: () => Redis;
  readonly close: () => void;
}

/**
 * Resolves after the first connection attempt, successful or not. `onFault` gets connection errors; they never contain the URL,
 * which may hold a password.
 */
export async function connect(url: string, onFault: (error: unknown) => void): Promise<Connection> {
  const base: RedisOptions & { replyMapping: 'legacy' } = {
    replyMapping: 'legacy',
    connectTimeout: CONNECT_WITHIN_MS,
    retryStrategy: (attempt) => Math.min(LONGEST_BACK_OFF_MS, 25 * 2 ** Math.min(attempt, 6)),
    connectionName: 'sundial-webhooks',
  };
  const redis = new Redis(url, {
    ...base,
    lazyConnect: true,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    commandTimeout: ANSWER_WITHIN_MS,
  });
  // A connection that stays down fails at every attempt, and is reported once.
  let reported: string | undefined;
  redis.on('ready', () => {
    reported = undefined;
  });
  redis.on('error', (error: Error) => {
    if (reported !== error.message) onFault(error);
    reported = error.message;
  });
  // The failure is emitted as an event, and ioredis retries.
  await redis.connect().catch(() => undefined);

  const ask: Connection['ask'] = async (command) => {
    try {
      return await command(redis);
    } catch (error) {
      throw new StoreUnavailable(error);
    }
  };
  const scripts = new Map<string, (key: string, args: readonly (string | number)[]) => Promise<unknown>>();
  const define = (name: string) => {
    redis.defineCommand(name, {
      lua: readFileSync(new URL(`./${name}.lua`, import.meta.url), 'utf8'),
      numberOfKeys: 1,
    });
    const command = redis[name as keyof Redis] as unknown as (
      ...args: readonly (string | number)[]
    ) => Promise<unknown>;
    return (key: string, args: readonly (string | number)[]) => ask(() => command.call(redis, key, ...args));
  };
  return {
    redis,
    ask,
    script: (name) => {
      const known = scripts.get(name) ?? define(name);
      scripts.set(name, known);
      return known;
    },
    forWorker: () => {
      const waiting = new Redis(url, { ...base, maxRetriesPerRequest: null });
      waiting.on('error', () => undefined); // the first connection reports it
      return waiting;
    },
    close: () => redis.disconnect(),
  };
}
