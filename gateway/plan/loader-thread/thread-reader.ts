// A policy reader in its own thread. The first call starts the thread; idle time or a timeout ends it.
import { Worker } from 'node:worker_threads';
import type { PolicyReader, ReaderStart } from './reader-contract.ts';
import type { ReaderCall, ReaderReply } from './reader-thread.ts';

export interface ThreadBounds {
  /** Timeout of one answer, milliseconds. */
  readonly answerMs: number;
  /** The thread ends this many milliseconds after a load. */
  readonly idleMs: number;
}

/** A burst of reloads shares one thread. Afterwards its memory is free for the main thread. */
export const THREAD_BOUNDS: ThreadBounds = { answerMs: 120_000, idleMs: 10_000 };

const THREAD = new URL('./reader-thread.ts', import.meta.url);

interface Thread {
  readonly ask: (question: ReaderCall) => Promise<unknown>;
  readonly end: () => Promise<unknown>;
}

/** A call rejects if the thread ends or the timeout passes. The next call starts a new thread. */
export function createThreadReader(
  start: ReaderStart,
  { answerMs, idleMs }: ThreadBounds = THREAD_BOUNDS,
  module: URL = THREAD,
): PolicyReader {
  let thread: Thread | undefined;
  let idleTimer: NodeJS.Timeout | undefined;
  let closed = false;

  function end(): Promise<unknown> {
    const ending = thread;
    thread = undefined;
    return ending?.end() ?? Promise.resolve();
  }

  async function ask(question: ReaderCall): Promise<unknown> {
    if (closed) throw new Error('the reader of policies is closed');
    clearTimeout(idleTimer);
    thread ??= startThread(start, module, (ended) => {
      if (thread === ended) thread = undefined;
    });
    const timeout = Promise.withResolvers<never>();
    const timer = setTimeout(
      () => timeout.reject(new Error(`the reader of policies took longer than ${answerMs / 1_000} s`)),
      answerMs,
    );
    try {
      return await Promise.race([thread.ask(question), timeout.promise]);
    } catch (error) {
      await end();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  // The casts are safe: the thread implements the same contract.
  return {
    read: async (...given) => (await ask({ name: 'read', given })) as Answer<'read'>,
    recall: async (...given) => (await ask({ name: 'recall', given })) as Answer<'recall'>,
    compare: async (...given) => (await ask({ name: 'compare', given })) as Answer<'compare'>,
    settle: async (...given) => (await ask({ name: 'settle', given })) as Answer<'settle'>,
    former: async (...given) => (await ask({ name: 'former', given })) as Answer<'former'>,
    pieces: async (...given) => (await ask({ name: 'pieces', given })) as Answer<'pieces'>,
    problems: async (...given) => (await ask({ name: 'problems', given })) as Answer<'problems'>,
    endLoad: () => {
      clearTimeout(idleTimer);
      if (!closed) idleTimer = setTimeout(() => void end(), idleMs).unref();
    },
    close: async () => {
      closed = true;
      clearTimeout(idleTimer);
      await end();
    },
  };
}

type Answer<K extends keyof PolicyReader> = Awaited<ReturnType<PolicyReader[K]>>;

/** The thread keeps the process alive only during a call. */
function startThread(start: ReaderStart, module: URL, onEnd: (ended: Thread) => void): Thread {
  const worker = new Worker(module, {
    // `process.env` cannot be cloned.
    workerData: { ...start, environment: { ...start.environment } },
    name: 'sundial-reload',
    execArgv: [],
  });
  let reply = nextReply();
  let cause: unknown;
  worker.on('message', (message: ReaderReply) => reply.resolve(message));
  worker.on('error', (error) => {
    cause = error;
  });
  worker.on('exit', () => {
    reply.reject(cause ?? new Error('the reader of policies has ended'));
    onEnd(thread);
  });
  const thread: Thread = {
    ask: async (question) => {
      worker.ref();
      worker.postMessage(question);
      try {
        const message = await reply.promise;
        if (message.kind === 'failed') throw message.error;
        return message.answer;
      } finally {
        reply = nextReply();
        worker.unref();
      }
    },
    end: () => worker.terminate(),
  };
  return thread;
}

/** The end of the thread between two calls is no error: the next call starts another thread. */
function nextReply(): PromiseWithResolvers<ReaderReply> {
  const reply = Promise.withResolvers<ReaderReply>();
  reply.promise.catch(() => undefined);
  return reply;
}
