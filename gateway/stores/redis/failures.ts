// What went wrong with a command or a connection, in words that are safe to print, and how long Redis counts as away for it.
import { StoreUnavailable } from '../../policy/contract.ts';

export class Late extends Error {}

/** A server of a cluster that holds the key no longer, or not yet, says which one to ask: nothing was done. */
export class Redirected extends StoreUnavailable {
  readonly to: string;
  /** For this command alone, and only if it says that it was sent there. */
  readonly once: boolean;
  constructor(to: string, once: boolean) {
    super('Redis holds it elsewhere');
    this.to = to;
    this.once = once;
  }
}

/** Errors that do not depend on the command: no memory, no disk, no primary, still loading, no permission for scripts or keys. */
const REFUSES_ALL =
  /^(?:ERR Error running script.*[ :]-)?(?:OOM|MISCONF|NOREPLICAS|READONLY|MASTERDOWN|LOADING|BUSY|CLUSTERDOWN|NOAUTH|WRONGPASS|NOPERM .*(?:'eval| key))/;
/** Redis words a missing permission of a script differently from that of its caller. */
const SCRIPT_LACKS_PERMISSION = /^ERR .*(?:The user executing the script can't|ACL failure in script)/;
const REDIRECT = /^(MOVED|ASK) \d+ (\S*:\d+)$/;

/** An error reply is an answer: the server is there, only this command failed. */
export function isReply(error: unknown): error is Error {
  return error instanceof Error && error.name === 'ReplyError';
}

/** Of the message of an error reply; before Redis 7 that of a script has it somewhere inside. */
export function refusesAll(message: string): boolean {
  return REFUSES_ALL.test(message) || SCRIPT_LACKS_PERMISSION.test(message);
}

/** It answers nothing else, to reads neither, and each of these answers late: it loads its data and looks up now and then. */
export function isLoading(error: unknown): boolean {
  return isReply(error) && error.message.startsWith('LOADING');
}

/** No leave for this command: an answer all the same. */
export function lacksPermission(error: unknown): boolean {
  return isReply(error) && error.message.startsWith('NOPERM');
}

export function redirectIn(message: string): Redirected | undefined {
  const [, word, to] = REDIRECT.exec(message) ?? [];
  return to === undefined ? undefined : new Redirected(to, word === 'ASK');
}

/** Of the client: a reply came and no command waits for one. */
export function isSurplus(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('Command queue state error');
}

export function isRefusedSelect(error: unknown): boolean {
  if (!isReply(error)) return false;
  const command: unknown = Reflect.get(error, 'command');
  return typeof command === 'object' && command !== null && Reflect.get(command, 'name') === 'select';
}

/** Errors of ioredis carry the command with its arguments, AUTH and its password included: only a code leaves here. */
export function describe(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  if ('code' in error && typeof error.code === 'string') return error.code;
  if (error.message.startsWith('All sentinels are unreachable')) return 'no sentinel answers';
  if (error.message.includes('cluster support disabled')) return 'no cluster';
  if (SCRIPT_LACKS_PERMISSION.test(error.message)) return 'NOPERM';
  return /^[A-Z]{3,}\b/.exec(error.message)?.[0] ?? 'connection closed';
}

/**
 * The answer, or a rejection after `limitMs`. ioredis has an option for it, but its timer also fires when it
 * was this process that stalled; the turn of the event loop granted here reads a reply that had arrived in time.
 */
export function answered<T>(reply: Promise<T>, limitMs: number): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const timer = setTimeout(() => setImmediate(() => reject(new Late('TIMEOUT'))), limitMs);
  reply.then(resolve, reject).finally(() => clearTimeout(timer));
  return promise;
}

export interface RedisBreaker {
  /** False while Redis is known to be away: commands are then refused without being sent. */
  readonly closed: boolean;
  readonly trip: () => void;
  readonly reset: () => void;
  readonly stop: () => void;
}

/**
 * Starts open. While open, `probe` is tried every `pauseMs` and its first success closes the breaker: recovery
 * costs no request its time. `onState` is called once per change.
 */
export function createRedisBreaker(options: {
  readonly pauseMs: number;
  readonly probe: () => Promise<unknown>;
  readonly onState: (up: boolean) => void;
}): RedisBreaker {
  let closed = false;
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;

  const set = (up: boolean): void => {
    if (stopped || closed === up) return;
    closed = up;
    options.onState(up);
  };
  const reset = (): void => {
    clearTimeout(timer);
    timer = undefined;
    set(true);
  };
  const probeLater = (): void => {
    if (stopped || timer !== undefined) return;
    timer = setTimeout(() => {
      options.probe().then(reset, () => {
        timer = undefined;
        probeLater();
      });
    }, options.pauseMs);
    timer.unref();
  };

  return {
    get closed() {
      return closed;
    },
    trip: () => {
      set(false);
      probeLater();
    },
    reset,
    stop: () => {
      stopped = true;
      closed = false;
      clearTimeout(timer);
    },
  };
}
