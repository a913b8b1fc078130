// One connection to one Redis server, with timeouts and circuit breakers: a command gets an answer in time or rejects.
import { randomUUID } from 'node:crypto';
import type { Redis as Client } from 'ioredis';
import { StoreUnavailable } from '../../policy/contract.ts';
import { CONNECT_WITHIN_MS } from './client.ts';
import {
  createRedisBreaker,
  errorCode,
  isLoading,
  isRefusedSelect,
  isReply,
  isUnexpectedReply,
  lacksPermission,
  ReplyTimeout,
  redirectIn,
  refusesAll,
  withTimeout,
} from './failures.ts';
import { hasNonce, withNonce } from './lua.ts';

const BREAKER_PAUSE_MS = 250;
/** A write like all others: by a script, which also calls TIME as those of limits do. */
const WRITE = "return redis.call('TIME') and redis.call('SET', KEYS[1], '1', 'PX', 1000)";
/** Late answers in a row that mean Redis is unavailable. After a single one, every key would use its fallback. */
const TIMEOUTS_BEFORE_TRIP = 3;
const WRONG_DATABASE = 'no such database';
const OUT_OF_SYNC = 'answers to something else';

export type ScriptArguments = readonly (string | number)[];

export interface Sending {
  readonly withinMs: number;
  /** Sends ASKING first, since the command was redirected here by ASK. */
  readonly asking?: boolean;
  /** The script must not follow ASK: see `RedisConnection.script`. */
  readonly makesKeys?: boolean;
}

export interface LinkOptions {
  /** Called once per change of `up`, first when it becomes true. */
  readonly onState: (up: boolean) => void;
  /** Gets the code of each error reply. */
  readonly onRefused: (code: string) => void;
  readonly answerWithinMs: number;
}

/** Rejects with `StoreUnavailable` only; with `Redirected` if another node of the cluster has the key. */
export type Send = (args: ScriptArguments, sending: Sending) => Promise<unknown>;

export interface RedisLink {
  /** Settles after the first attempt, successful or not. */
  readonly opened: Promise<void>;
  readonly ready: boolean;
  readonly up: boolean;
  /** The last failure as a short code such as `ECONNREFUSED`, safe to print; undefined while ready. */
  readonly problem: string | undefined;
  readonly script: (name: string, lua: string, keys: number) => Send;
  /** Sends a command that is not a script, with the same timeout and breaker. */
  readonly ask: (command: readonly [string, ...(readonly string[])], withinMs: number) => Promise<unknown>;
  readonly close: () => void;
}

/** `writeKey` returns a key that this server holds. */
export function openLink(
  redis: Client,
  options: LinkOptions & { readonly writeKey: () => string },
): RedisLink {
  const limitMs = options.answerWithinMs;
  let problem: string | undefined;
  let consecutiveTimeouts = 0;
  let sent = 0;
  /** After a refused SELECT, ioredis would use database 0, which is not ours. */
  let isWrongDatabase = false;
  let up = false;
  const notifyState = (): void => {
    const now = breaker.closed && writes.closed;
    if (now === up) return;
    up = now;
    options.onState(now);
  };
  const reconnect = (): void => redis.disconnect(true);
  /**
   * Sends PING with a nonce. After lost bytes each reply belongs to another command, or none comes, and the connection stays
   * open.
   */
  const pingWithNonce = async (): Promise<void> => {
    const nonce = randomUUID();
    const timer = setTimeout(reconnect, CONNECT_WITHIN_MS);
    timer.unref();
    try {
      if ((await redis.ping(nonce)) === nonce) return;
      reconnect();
      throw new Error(OUT_OF_SYNC);
    } catch (error) {
      if (!lacksPermission(error)) throw error;
    } finally {
      clearTimeout(timer);
    }
  };
  const breaker = createRedisBreaker({
    pauseMs: BREAKER_PAUSE_MS,
    probe: async () => {
      if (isWrongDatabase) throw new Error(WRONG_DATABASE);
      await withTimeout(pingWithNonce(), limitMs);
    },
    onState: (isBack) => {
      if (isBack) problem = undefined;
      notifyState();
    },
  });
  /** Opens after a refused write. A probe of our own closes it, since there may be no other write. */
  const writes = createRedisBreaker({
    pauseMs: BREAKER_PAUSE_MS,
    probe: () => withTimeout(redis.eval(WRITE, 1, options.writeKey()), limitMs),
    onState: notifyState,
  });
  writes.reset();
  redis.on('connect', () => {
    isWrongDatabase = false;
  });
  redis.on('ready', () => {
    if (!isWrongDatabase) breaker.reset();
  });
  redis.on('close', breaker.trip);
  redis.on('error', (error: unknown) => {
    if (isUnexpectedReply(error)) reconnect();
    isWrongDatabase ||= isRefusedSelect(error);
    problem = isWrongDatabase ? WRONG_DATABASE : errorCode(error);
    if (isReply(error)) options.onRefused(problem);
  });

  const toStoreUnavailable = (error: unknown): StoreUnavailable => {
    const redirected = isReply(error) ? redirectIn(error.message) : undefined;
    const reason = errorCode(error);
    consecutiveTimeouts = error instanceof ReplyTimeout ? consecutiveTimeouts + 1 : 0;
    if (isReply(error)) options.onRefused(reason);
    if (redirected !== undefined) return redirected;
    problem = reason;
    if (isReply(error) && refusesAll(error.message)) writes.trip();
    const isConnectionError = !(isReply(error) || error instanceof ReplyTimeout);
    if (isConnectionError || isLoading(error) || consecutiveTimeouts >= TIMEOUTS_BEFORE_TRIP) breaker.trip();
    return new StoreUnavailable(`Redis did not answer (${reason})`);
  };
  const withBreaker = async (call: () => Promise<unknown>, withinMs: number): Promise<unknown> => {
    if (!breaker.closed) throw new StoreUnavailable(`Redis is away (${problem ?? 'not connected'})`);
    try {
      const reply = await withTimeout(call(), withinMs);
      consecutiveTimeouts = 0;
      return reply;
    } catch (error) {
      throw toStoreUnavailable(error);
    }
  };

  return {
    opened: firstAttempt(redis),
    get ready() {
      return breaker.closed;
    },
    get up() {
      return up;
    },
    get problem() {
      return breaker.closed ? undefined : problem;
    },
    script: (name, lua, keys) => {
      redis.defineCommand(name, { lua: withNonce(lua), numberOfKeys: keys });
      const commands = redis as unknown as Record<string, (...args: ScriptArguments) => Promise<unknown>>;
      return (args, { withinMs, asking = false }) =>
        withBreaker(async () => {
          // Commands of one connection run in order. The reply to the next command shows whether ASKING worked.
          if (asking) redis.asking().catch(() => undefined);
          sent += 1;
          const nonce = String(sent);
          const reply = await commands[name]?.(...args, nonce);
          if (hasNonce(nonce, reply)) return reply[1] ?? null;
          reconnect();
          throw new Error(OUT_OF_SYNC);
        }, withinMs);
    },
    ask: ([command, ...rest], withinMs) => withBreaker(() => redis.call(command, ...rest), withinMs),
    close: () => {
      breaker.stop();
      writes.stop();
      disconnectQuietly(redis);
    },
  };
}

/**
 * ioredis listens for one error of a socket. A socket closed during its TLS handshake can emit two: the untrusted certificate,
 * and the server's alert. Without a listener the second would end the process.
 */
function disconnectQuietly(redis: Client): void {
  const socket: Client['stream'] | undefined = redis.stream;
  socket?.on('error', () => undefined);
  redis.disconnect();
}

function firstAttempt(redis: Client): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, CONNECT_WITHIN_MS);
  redis.once('ready', resolve);
  redis.once('close', resolve);
  return promise.finally(() => clearTimeout(timer));
}
