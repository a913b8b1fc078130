// Calls to sundial.db: batches them, resolves each once it is on the disk, and restarts the database thread.
import { StoreUnavailable } from '../../policy/contract.ts';
import type { Call, Operations } from './operations.ts';
import { type DatabaseThread, startThread } from './thread.ts';

/** Far longer than a sync takes. A call that waits longer is rejected as unavailable. */
const ANSWER_WITHIN_MS = 1000;
const RESTART_AFTER_MS = 250;
const PROBE_AFTER_MS = 250;

export interface Database {
  /** Rejects only with `StoreUnavailable`. */
  readonly call: <N extends keyof Operations>(
    name: N,
    ...args: Parameters<Operations[N]>
  ) => Promise<ReturnType<Operations[N]>>;
  /**
   * Copies the whole database into the file `into`; one copy at a time. Rejects only with `StoreUnavailable`.
   */
  readonly backup: (into: string) => Promise<void>;
  /** Resolves when no call runs or waits, rejected calls included. */
  readonly settled: () => Promise<void>;
  /** Resolves when pending calls are done and the file is free. May be called twice. */
  readonly close: () => Promise<void>;
}

export interface DatabaseOptions {
  /** Called once per change; false after the thread has ended or a call has failed. */
  readonly onState: (up: boolean) => void;
  readonly onFault: (error: unknown) => void;
  /** Gets the reason of each failed call: a message of SQLite or of Sundial. */
  readonly onRefused?: (reason: string) => void;
}

/**
 * Opens `file` in a worker thread. If the thread ends, this is reported, and it is restarted until it opens
 * the same file again. Meanwhile calls reject at once. After a failed call the store counts as unavailable
 * until a write succeeds.
 * @throws OpenError if the first attempt to open the file fails
 */
export async function openDatabase(file: string, options: DatabaseOptions): Promise<Database> {
  let thread: DatabaseThread | undefined;
  let timer: NodeJS.Timeout | undefined;
  let starting: Promise<void> | undefined;
  let probeTimer: NodeJS.Timeout | undefined;
  let identity: string | undefined;
  let closed: Promise<void> | undefined;
  let up = false;
  /** The last reported reason why a restart failed. It is reported once, not at each attempt. */
  let reported = '';

  const setState = (now: boolean): void => {
    if (up === now) return;
    up = now;
    options.onState(now);
  };
  const start = async (): Promise<void> => {
    thread = await startThread({ file, identity }, (error) => {
      thread = undefined;
      options.onFault(error);
      setState(false);
      startLater();
    });
    identity = thread.identity;
    reported = '';
    setState(true);
  };
  const startLater = (): void => {
    if (closed !== undefined) return;
    timer = setTimeout(() => {
      starting = start().catch((error: unknown) => {
        if (String(error) !== reported) options.onFault(error);
        reported = String(error);
        startLater();
      });
    }, RESTART_AFTER_MS);
    timer.unref();
  };

  const batches = createBatches<Call>(
    async (calls) => {
      if (thread === undefined) throw new StoreUnavailable('the database thread has ended');
      return thread.run(calls);
    },
    { answerWithinMs: ANSWER_WITHIN_MS },
  );

  const probeLater = (): void => {
    if (closed !== undefined || probeTimer !== undefined) return;
    probeTimer = setTimeout(() => {
      probeTimer = undefined;
      batches.add({ name: 'touch', args: [] }).then(() => setState(true), probeLater);
    }, PROBE_AFTER_MS);
    probeTimer.unref();
  };

  const close = async (): Promise<void> => {
    clearTimeout(timer);
    clearTimeout(probeTimer);
    await starting;
    await batches.settled();
    await thread?.close();
    thread = undefined;
  };

  await start();
  return {
    call: async (name, ...args) => {
      if (closed !== undefined) throw new StoreUnavailable('the store is closed');
      try {
        // Callers of `call` have the types of name and arguments checked.
        return (await batches.add({ name, args } as Call)) as ReturnType<Operations[typeof name]>;
      } catch (error) {
        if (error instanceof StoreUnavailable) options.onRefused?.(error.message);
        setState(false);
        probeLater();
        throw error;
      }
    },
    backup: async (into) => {
      if (thread === undefined || closed !== undefined) throw new StoreUnavailable('the store is closed');
      await thread.backup(into);
    },
    settled: batches.settled,
    close: () => {
      closed ??= close();
      return closed;
    },
  };
}

export interface Batches<Call> {
  /** Rejects as `run` does, or with `StoreUnavailable` if no answer comes in time. */
  readonly add: (call: Call) => Promise<unknown>;
  readonly settled: () => Promise<void>;
}

interface PendingCall<Call> {
  readonly call: Call;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * `run` gets one batch at a time and resolves with the results in order. Calls of one event loop iteration
 * form a batch. After `answerWithinMs` all pending calls are rejected as unavailable. New calls are rejected
 * at once until that batch has ended.
 */
export function createBatches<Call>(
  run: (calls: readonly Call[]) => Promise<readonly unknown[]>,
  { answerWithinMs }: { readonly answerWithinMs: number },
): Batches<Call> {
  let waiting: PendingCall<Call>[] = [];
  let running: Promise<void> | undefined;
  let stalled = false;

  const runNext = async (): Promise<void> => {
    const batch = waiting;
    waiting = [];
    let isOver = false;
    const rejectAll = (): void => {
      if (isOver) return;
      stalled = true;
      for (const { reject } of [...batch, ...waiting])
        reject(new StoreUnavailable('the disk does not answer'));
      waiting = [];
    };
    // An answer that arrived while this process was busy is read first, so that a busy gateway does not count
    // as a slow disk.
    const timer = setTimeout(() => setImmediate(rejectAll), answerWithinMs);
    try {
      const results = await run(batch.map(({ call }) => call));
      for (const [index, { resolve }] of batch.entries()) resolve(results[index]);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    } finally {
      clearTimeout(timer);
      isOver = true;
      stalled = false;
    }
  };
  const runAll = async (): Promise<void> => {
    while (waiting.length > 0) await runNext();
    running = undefined;
  };

  return {
    add: (call) => {
      if (stalled) return Promise.reject(new StoreUnavailable('the disk does not answer'));
      const { promise, resolve, reject } = Promise.withResolvers<unknown>();
      waiting.push({ call, resolve, reject });
      running ??= Promise.resolve().then(runAll);
      return promise;
    },
    settled: async () => {
      await running;
    },
  };
}
