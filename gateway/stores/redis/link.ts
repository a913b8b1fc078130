// One connection to one Redis server. Timeouts and circuit breakers bound the time of each command.
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
/** Probes whether writes work, the way limits write: one script that calls TIME and SET. */
const WRITE_PROBE = "return redis.call('TIME') and redis.call('SET', KEYS[1], '1', 'PX', 1000)";
/**
 * The breaker trips after this many consecutive timeouts. If it tripped after one, a single slow reply would
 * move every key to its fallback.
 */
const TIMEOUTS_BEFORE_TRIP = 3;
const WRONG_DATABASE = 'no such database';
const OUT_OF_SYNC = 'reply does not match the command';

export type ScriptArguments = readonly (string | number)[];

export interface SendOptions {
  readonly withinMs: number;
  /** Sends ASKING first, because ASK redirected the command to this node. */
  readonly asking?: boolean;
  /** The script derives keys from its first one, so it must not follow ASK. See `RedisConnection.script`. */
  readonly derivesKeys?: boolean;
}

export interface LinkOptions {
  /** Called once per change of `up`, first when it becomes true. */
  readonly onState: (up: boolean) => void;
  /** Gets the code of each error reply. */
  readonly onRefused: (code: string) => void;
  readonly answerWithinMs: number;
}

/** Rejects only with `StoreUnavailable`. Its subclass `Redirected` means that another node has the key. */
export type Send = (args: ScriptArguments, options: SendOptions) => Promise<unknown>;

export interface RedisLink {
  /** Settles after the first attempt, successful or not. */
  readonly opened: Promise<void>;
  readonly ready: boolean;
  readonly up: boolean;
  /** The last failure as a short code such as `ECONNREFUSED`, safe to print; undefined while ready. */
  readonly problem: string | undefined;
  readonly script: (name: string, lua: string, keys: number) => Send;
  /** Sends a command that is not a script, with the same breaker. */
  readonly sendCommand: (
    command: readonly [string, ...(readonly string[])],
    withinMs: number,
  ) => Promise<unknown>;
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
   * If bytes are lost, replies no longer match their commands, or no reply comes. The connection stays open,
   * so only a nonce shows the fault.
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
  /**
   * Opens when Redis refuses all writes. It changes only `up`: reads and writes are still sent. Its own probe
   * closes it, because no other write may come.
   */
  const writes = createRedisBreaker({
    pauseMs: BREAKER_PAUSE_MS,
    probe: () => withTimeout(redis.eval(WRITE_PROBE, 1, options.writeKey()), limitMs),
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

  /** Updates breakers and `problem`. Returns the error for the caller. */
  const recordFailure = (error: unknown): StoreUnavailable => {
    const redirected = isReply(error) ? redirectIn(error.message) : undefined;
    const reason = errorCode(error);
    consecutiveTimeouts = error instanceof ReplyTimeout ? consecutiveTimeouts + 1 : 0;
    if (isReply(error)) options.onRefused(reason);
    if (redirected !== undefined) return redirected;
    problem = reason;
    if (isReply(error) && refusesAll(error.message)) writes.trip();
    const isConnectionError = !(isReply(error) || error instanceof ReplyTimeout);
    if (isConnectionError || isLoading(error) || consecutiveTimeouts >= TIMEOUTS_BEFORE_TRIP) breaker.trip();
    return new StoreUnavailable(`Redis call failed (${reason})`);
  };
  const withBreaker = async (call: () => Promise<unknown>, withinMs: number): Promise<unknown> => {
    if (!breaker.closed) throw new StoreUnavailable(`Redis is unavailable (${problem ?? 'not connected'})`);
    try {
      const reply = await withTimeout(call(), withinMs);
      consecutiveTimeouts = 0;
      return reply;
    } catch (error) {
      throw recordFailure(error);
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
          // Commands of one connection run in order. The reply to the next command shows whether ASKING
          // worked.
          if (asking) redis.asking().catch(() => undefined);
          sent += 1;
          const nonce = String(sent);
          const reply = await commands[name]?.(...args, nonce);
          if (hasNonce(nonce, reply)) return reply[1] ?? null;
          reconnect();
          throw new Error(OUT_OF_SYNC);
        }, withinMs);
    },
    sendCommand: ([command, ...rest], withinMs) => withBreaker(() => redis.call(command, ...rest), withinMs),
    close: () => {
      breaker.stop();
      writes.stop();
      disconnectQuietly(redis);
    },
  };
}

/**
 * ioredis listens for one error of a socket. A socket closed during its TLS handshake can emit two: the
 * untrusted certificate, and the server's alert. Without a listener the second would end the process.
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
