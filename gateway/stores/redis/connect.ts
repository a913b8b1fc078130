// The connection to Redis as the request path needs it: an answer at once, or the plain statement that there is none.
// The Redis stores send their scripts through it; nothing that leaves this file can hold the URL or its password.
import type { Redis as Client } from 'ioredis';
import { StoreUnavailable } from '../../policy/contract.ts';
import { createBreaker, refusesWrites } from './breaker.ts';

/** Leaves of the 50 ms of RL-13 what a busy event loop needs to notice. */
const DEFAULT_ANSWER_WITHIN_MS = 30;
const BREAKER_PAUSE_MS = 250;
const WRITTEN = 'sundial:{state}:written';
/** As all else is written: by a script. */
const WRITE = "return redis.call('SET', KEYS[1], '1', 'PX', 1000)";
/** Late answers in a row that mean Redis is away; a single one would send every key to its fallback. */
const LATE_BEFORE_TRIP = 3;
const CONNECT_WITHIN_MS = 1000;
const ELSEWHERE = 'no such database';
const LONGEST_BACK_OFF_MS = 1000;

export interface RedisConnection {
  /** Whether Redis answers now. */
  readonly ready: boolean;
  /** The last failure as a short code such as `ECONNREFUSED`, safe to print; undefined while ready. */
  readonly problem: string | undefined;
  /**
   * Registers a Lua script whose first `keys` arguments are its keys. Calls reject with `StoreUnavailable` only, at the
   * latest after `answerWithinMs`: a longer time than the connection's own is for what no request waits for.
   */
  readonly script: (
    name: string,
    lua: string,
    keys: number,
    options?: { readonly answerWithinMs?: number },
  ) => RedisScript;
  readonly close: () => void;
}

export type RedisScript = (...args: readonly (string | number)[]) => Promise<unknown>;

/**
 * Connects to `redis://` or `rediss://`. Resolves after the first attempt, successful or not (`ready` tells), and
 * keeps reconnecting for ever. `onState` is called once per change, first when Redis is first reached; false also while
 * it answers and takes no write, though reads go on. A command is given up after `answerWithinMs` (default 30).
 * `onRefused` is told the code of each error reply, such as `OOM`.
 *
 * @throws Error when the URL has another scheme.
 */
export async function connectRedis(
  url: string,
  options: {
    readonly onState: (up: boolean) => void;
    readonly onRefused?: (code: string) => void;
    readonly answerWithinMs?: number;
  },
): Promise<RedisConnection> {
  if (!/^rediss?:\/\//.test(url)) throw new Error('a Redis URL begins with redis:// or rediss://');
  const limitMs = options.answerWithinMs ?? DEFAULT_ANSWER_WITHIN_MS;
  let problem: string | undefined;
  let lateInARow = 0;
  /** The client goes on in database 0 where the one of the URL is refused: that is somebody else's. */
  let isElsewhere = false;
  // Most gateways have no Redis: theirs start without loading the client.
  const { Redis } = await import('ioredis');
  const redis = new Redis(url, {
    // Nothing waits for a connection and nothing is sent twice: a take that was lost may have been counted.
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    connectTimeout: CONNECT_WITHIN_MS,
    // Ends a connection whose peer has stalled or vanished, the handshake included, so that a new one is tried.
    socketTimeout: CONNECT_WITHIN_MS,
    retryStrategy: (attempt) => Math.min(LONGEST_BACK_OFF_MS, 25 * 2 ** Math.min(attempt, 6)) * jitter(),
    // A primary that became a replica refuses writes: look for the new primary behind the same name.
    reconnectOnError: (error) => error.message.startsWith('READONLY'),
    disableClientInfo: true,
    connectionName: 'sundial',
  });

  let up = false;
  const tellState = (): void => {
    const now = breaker.closed && writes.closed;
    if (now === up) return;
    up = now;
    options.onState(now);
  };
  const breaker = createBreaker({
    pauseMs: BREAKER_PAUSE_MS,
    probe: () => (isElsewhere ? Promise.reject(new Error(ELSEWHERE)) : answered(redis.ping(), limitMs)),
    onState: (isBack) => {
      if (isBack) problem = undefined;
      tellState();
    },
  });
  /** Found out by what was refused; that it is over by a write of our own, since there may be no other. */
  const writes = createBreaker({
    pauseMs: BREAKER_PAUSE_MS,
    probe: () => answered(redis.eval(WRITE, 1, WRITTEN), limitMs),
    onState: tellState,
  });
  writes.reset();
  redis.on('connect', () => {
    isElsewhere = false;
  });
  redis.on('ready', () => {
    if (!isElsewhere) breaker.reset();
  });
  redis.on('close', breaker.trip);
  redis.on('error', (error: unknown) => {
    isElsewhere ||= isRefusedSelect(error);
    problem = isElsewhere ? ELSEWHERE : describe(error);
    if (isReply(error)) options.onRefused?.(problem);
  });

  const guarded = async (call: () => Promise<unknown>, withinMs: number): Promise<unknown> => {
    if (!breaker.closed) throw new StoreUnavailable(`Redis is away (${problem ?? 'not connected'})`);
    try {
      const reply = await answered(call(), withinMs);
      lateInARow = 0;
      return reply;
    } catch (error) {
      const reason = describe(error);
      problem = reason;
      lateInARow = error instanceof Late ? lateInARow + 1 : 0;
      if (isReply(error)) options.onRefused?.(reason);
      if (isReply(error) && refusesWrites(error.message)) writes.trip();
      if (lateInARow >= LATE_BEFORE_TRIP || !(isReply(error) || error instanceof Late)) breaker.trip();
      throw new StoreUnavailable(`Redis did not answer (${reason})`);
    }
  };

  await firstAttempt(redis);
  return {
    get ready() {
      return breaker.closed;
    },
    get problem() {
      return breaker.closed ? undefined : problem;
    },
    script: (name, lua, keys, { answerWithinMs = limitMs } = {}) => {
      redis.defineCommand(name, { lua, numberOfKeys: keys });
      const commands = redis as unknown as Record<
        string,
        (...args: readonly (string | number)[]) => Promise<unknown>
      >;
      return (...args) => guarded(async () => commands[name]?.(...args), answerWithinMs);
    },
    close: () => {
      breaker.stop();
      writes.stop();
      redis.disconnect();
    },
  };
}

/** An error reply is an answer: the server is there, only this command failed. */
function isReply(error: unknown): error is Error {
  return error instanceof Error && error.name === 'ReplyError';
}

/** No answer within the limit. */
class Late extends Error {}

/** Between 0.75 and 1.25: gateways that lost one Redis together do not come back in step. */
const jitter = (): number => 0.75 + Math.random() / 2;

/**
 * The answer, or a rejection after `limitMs`. ioredis has an option for it, but its timer also fires when it
 * was this process that stalled; the turn of the event loop granted here reads a reply that had arrived in time.
 */
function answered<T>(reply: Promise<T>, limitMs: number): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const timer = setTimeout(() => setImmediate(() => reject(new Late('TIMEOUT'))), limitMs);
  reply.then(resolve, reject).finally(() => clearTimeout(timer));
  return promise;
}

function firstAttempt(redis: Client): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, CONNECT_WITHIN_MS);
  redis.once('ready', resolve);
  redis.once('close', resolve);
  return promise.finally(() => clearTimeout(timer));
}

function isRefusedSelect(error: unknown): boolean {
  if (!isReply(error)) return false;
  const command: unknown = Reflect.get(error, 'command');
  return typeof command === 'object' && command !== null && Reflect.get(command, 'name') === 'select';
}

/** Errors of ioredis carry the command with its arguments, AUTH and its password included: only a code leaves here. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  if ('code' in error && typeof error.code === 'string') return error.code;
  return /^[A-Z]{3,}\b/.exec(error.message)?.[0] ?? 'connection closed';
}
