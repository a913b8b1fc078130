// Groups what is asked while a batch runs into the next one, so that many writes share one sync of the disk.
// Stands between the embedded stores and the database's thread.
import { StoreUnavailable } from '../../policy/contract.ts';

export interface Batches<Call> {
  /** Rejects with what `run` rejects with, or with `StoreUnavailable` when no answer comes in time. */
  readonly add: (call: Call) => Promise<unknown>;
  /** Resolves when nothing runs or waits. */
  readonly settled: () => Promise<void>;
}

interface Waiting<Call> {
  readonly call: Call;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * `run` gets one batch at a time and resolves with its results in order. Calls of one turn of the event loop go
 * together. After `answerWithinMs` all who wait are told that the store is away, and further calls at once, until the
 * batch has ended after all.
 */
export function createBatches<Call>(
  run: (calls: readonly Call[]) => Promise<readonly unknown[]>,
  { answerWithinMs }: { readonly answerWithinMs: number },
): Batches<Call> {
  let waiting: Waiting<Call>[] = [];
  let running: Promise<void> | undefined;
  let stalled = false;

  const runNext = async (): Promise<void> => {
    const batch = waiting;
    waiting = [];
    let isOver = false;
    const giveUp = (): void => {
      if (isOver) return;
      stalled = true;
      for (const { reject } of [...batch, ...waiting])
        reject(new StoreUnavailable('the disk does not answer'));
      waiting = [];
    };
    // What has come while this process was busy is read before the verdict: a slow gateway is no slow disk.
    const timer = setTimeout(() => setImmediate(giveUp), answerWithinMs);
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
