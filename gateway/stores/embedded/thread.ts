// Starts the database thread, exchanges messages with it, and detects its end.
import { Worker } from 'node:worker_threads';
import { StoreUnavailable } from '../../policy/contract.ts';
import type { ThreadMessage, ThreadRequest, ThreadStart } from './database-thread.ts';
import { OpenError } from './open-file.ts';
import type { Call } from './operations.ts';

export interface DatabaseThread {
  readonly identity: string | undefined;
  /** One batch at a time. Rejects with `StoreUnavailable`. */
  readonly run: (calls: readonly Call[]) => Promise<readonly unknown[]>;
  /**
   * Copies the database into the file `into` while batches go on; one copy at a time. Rejects with
   * `StoreUnavailable`.
   */
  readonly backup: (into: string) => Promise<void>;
  /** Resolves when the thread has ended and the file is free. */
  readonly close: () => Promise<void>;
}

/**
 * Resolves when the file is open and locked. The thread keeps the process alive only while a batch runs.
 * `onEnd` gets the cause if the thread ends without `close`.
 * @throws OpenError
 */
export async function startThread(
  start: ThreadStart,
  onEnd: (error: unknown) => void,
): Promise<DatabaseThread> {
  const worker = new Worker(new URL('./database-thread.ts', import.meta.url), {
    workerData: start,
    name: 'sundial-store',
    // Flags of the process may be invalid for a thread that starts from a file.
    execArgv: [],
  });
  const exited = Promise.withResolvers<void>();
  let reply = Promise.withResolvers<ThreadMessage>();
  let backupReply: PromiseWithResolvers<string | undefined> | undefined;
  let ready = false;
  let closing = false;
  let cause: unknown;

  worker.on('message', (message: ThreadMessage) => {
    if (message.kind === 'backup') backupReply?.resolve(message.failed);
    else reply.resolve(message);
  });
  worker.on('error', (error) => {
    cause = error;
  });
  worker.on('exit', () => {
    const ended = new StoreUnavailable('the database thread has ended');
    reply.reject(ended);
    backupReply?.reject(ended);
    exited.resolve();
    if (ready && !closing) onEnd(cause);
  });

  const opened = await reply.promise.catch((error: unknown) => {
    throw cause ?? error;
  });
  if (opened.kind === 'failed') {
    await exited.promise;
    throw new OpenError(opened.failure);
  }
  ready = true;
  worker.unref();
  const send = (what: ThreadRequest): void => worker.postMessage(what);

  return {
    identity: opened.kind === 'ready' ? opened.identity : undefined,
    run: async (calls) => {
      reply = Promise.withResolvers<ThreadMessage>();
      worker.ref();
      send(calls);
      try {
        const message = await reply.promise;
        if (message.kind === 'done') return message.results;
        throw new StoreUnavailable(message.kind === 'refused' ? message.reason : 'no answer');
      } finally {
        worker.unref();
      }
    },
    backup: async (into) => {
      backupReply = Promise.withResolvers();
      send({ backup: into });
      const failed = await backupReply.promise;
      if (failed !== undefined) throw new StoreUnavailable(failed);
    },
    close: () => {
      closing = true;
      worker.ref();
      send('close');
      return exited.promise;
    },
  };
}
