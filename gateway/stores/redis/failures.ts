// Classifies errors of Redis and ioredis, with codes that are safe to print. The circuit breaker.
import { StoreUnavailable } from '../../policy/contract.ts';

export class ReplyTimeout extends Error {}

/** A cluster node has redirected the command and not executed it. */
export class Redirected extends StoreUnavailable {
  readonly to: string;
  /** ASK: for this command only, which must be preceded by ASKING. */
  readonly isAsk: boolean;
  constructor(to: string, isAsk: boolean) {
    super('another Redis node has the key');
    this.to = to;
    this.isAsk = isAsk;
  }
}

/**
 * Errors that do not depend on the command: no memory, no disk, no primary, still loading, no permission for
 * scripts or keys.
 */
const REFUSES_ALL =
  /^(?:ERR Error running script.*[ :]-)?(?:OOM|MISCONF|NOREPLICAS|READONLY|MASTERDOWN|LOADING|BUSY|CLUSTERDOWN|NOAUTH|WRONGPASS|NOPERM .*(?:'eval| key))/;
/** Redis has other messages for a missing permission inside a script than for one of its caller. */
const SCRIPT_LACKS_PERMISSION = /^ERR .*(?:The user executing the script can't|ACL failure in script)/;
const REDIRECT = /^(MOVED|ASK) \d+ (\S*:\d+)$/;

/** Whether Redis sent an error reply. The server is then available, and only this command failed. */
export function isReply(error: unknown): error is Error {
  return error instanceof Error && error.name === 'ReplyError';
}

/**
 * Whether the error concerns all commands. Before Redis 7, a script's error has the code inside the message.
 */
export function refusesAll(message: string): boolean {
  return REFUSES_ALL.test(message) || SCRIPT_LACKS_PERMISSION.test(message);
}

/** A loading server refuses reads too. It handles clients only now and then, so each refusal comes late. */
export function isLoading(error: unknown): boolean {
  return isReply(error) && error.message.startsWith('LOADING');
}

/** Whether ACLs forbid this command. The server is available. */
export function lacksPermission(error: unknown): boolean {
  return isReply(error) && error.message.startsWith('NOPERM');
}

export function redirectIn(message: string): Redirected | undefined {
  const [, word, to] = REDIRECT.exec(message) ?? [];
  return to === undefined ? undefined : new Redirected(to, word === 'ASK');
}

/** Whether ioredis got a reply for which no command waits. */
export function isUnexpectedReply(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('Command queue state error');
}

export function isRefusedSelect(error: unknown): boolean {
  if (!isReply(error)) return false;
  const command: unknown = Reflect.get(error, 'command');
  return typeof command === 'object' && command !== null && Reflect.get(command, 'name') === 'select';
}

/**
 * A short code only: errors of ioredis contain the command with its arguments, such as AUTH with its
 * password.
 */
export function errorCode(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  if ('code' in error && typeof error.code === 'string') return error.code;
  if (error.message.startsWith('All sentinels are unreachable')) return 'no sentinel answers';
  if (error.message.includes('cluster support disabled')) return 'no cluster';
  if (SCRIPT_LACKS_PERMISSION.test(error.message)) return 'NOPERM';
  return /^[A-Z]{3,}\b/.exec(error.message)?.[0] ?? 'connection closed';
}

/**
 * Rejects with `ReplyTimeout` after `limitMs`. The timeout option of ioredis also fires if this process has
 * stalled. Here, one more turn of the event loop reads a reply that arrived in time.
 */
export function withTimeout<T>(reply: Promise<T>, limitMs: number): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const timer = setTimeout(() => setImmediate(() => reject(new ReplyTimeout('TIMEOUT'))), limitMs);
  reply.then(resolve, reject).finally(() => clearTimeout(timer));
  return promise;
}

export interface RedisBreaker {
  /** False while Redis counts as unavailable. */
  readonly closed: boolean;
  readonly trip: () => void;
  readonly reset: () => void;
  readonly stop: () => void;
}

/**
 * Starts open. While it is open, `probe` runs every `pauseMs` and its first success closes the breaker, so no
 * request pays for the recovery. `onState` is called once per change.
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
