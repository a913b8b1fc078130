// The connections to Redis: one that answers at once or says that it is away, one for the workers that waits.
// Opened by store.ts; nothing that leaves here holds the URL, which may hold a password.
import { readFileSync } from 'node:fs';
import { Redis, type RedisOptions } from 'ioredis';
import { StoreAway } from '../store.ts';

const CONNECT_WITHIN_MS = 2_000;
const ANSWER_WITHIN_MS = 2_000;
const LONGEST_BACK_OFF_MS = 1_000;

export interface Connection {
  /** For everything that somebody waits for: fails soon, and sends nothing twice. */
  readonly redis: Redis;
  /** Rejects with `StoreAway`, whatever the command. */
  readonly ask: <T>(command: (redis: Redis) => Promise<T>) => Promise<T>;
  /** A script of this folder, by its file's name without `.lua`. Rejects with `StoreAway`. */
  readonly script: (name: string) => (key: string, args: readonly (string | number)[]) => Promise<unknown>;
  /** Another one, for a worker: its commands wait until Redis is back. */
  readonly forWorker: () => Redis;
  readonly close: () => void;
}

/** Resolves when the first attempt to connect has ended, well or not. `onFault` is told what breaks a connection. */
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
  // A connection that stays away fails again at every attempt: told once.
  let told: string | undefined;
  redis.on('ready', () => {
    told = undefined;
  });
  redis.on('error', (error: Error) => {
    if (told !== error.message) onFault(error);
    told = error.message;
  });
  // Its failure is told as an event, and another attempt follows.
  await redis.connect().catch(() => undefined);

  const ask: Connection['ask'] = async (command) => {
    try {
      return await command(redis);
    } catch (error) {
      throw new StoreAway(error);
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
      waiting.on('error', () => undefined); // the first connection tells of it
      return waiting;
    },
    close: () => redis.disconnect(),
  };
}
