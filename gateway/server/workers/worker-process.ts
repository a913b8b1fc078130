// A worker process: executes the primary's commands. It ends on command, after an uncaught error, and with the primary.
import type { MetricsSnapshot } from '../../telemetry/snapshots.ts';
import { connectPeer, type Peer } from './peer.ts';
import type { BoundListeners, PrimaryAnswers, WorkerAnswers, WorkerStart } from './protocol.ts';

export interface Worker {
  readonly bound: BoundListeners;
  readonly use: WorkerAnswers['use'];
  readonly snapshot: () => Promise<MetricsSnapshot>;
  readonly show: WorkerAnswers['show'];
  readonly setLogLevel: WorkerAnswers['setLogLevel'];
  readonly hear: WorkerAnswers['hear'];
  /** The worker then drains and ends. */
  readonly onUncaught: (error: unknown) => void;
  /** Finishes running requests within the drain timeout, then releases all resources. */
  readonly close: () => Promise<void>;
}

export interface PrimaryLink {
  readonly peer: <Theirs>() => Peer<Theirs>;
  /** Sends whole log lines. False if too many characters are unacknowledged. */
  readonly log: (lines: string) => boolean;
}

/** A primary that reads its messages never has this many pending. */
const MAX_UNACKNOWLEDGED = 8 * 1024 * 1024;
const FAILED = 1;

/** Call it once, in a process that `forkWorker` started. `open` gets the primary's start message. */
export function runWorker(open: (start: WorkerStart, primary: PrimaryLink) => Promise<Worker>): void {
  const opening = Promise.withResolvers<Worker>();
  // `start` reports the failure to the primary, which ends this process.
  opening.promise.catch(() => undefined);
  let closing: Promise<void> | undefined;
  let unacknowledged = 0;

  const answers: WorkerAnswers = {
    start: async (start) => {
      opening.resolve(open(start, { peer, log }));
      return (await opening.promise).bound;
    },
    use: async (order) => (await opening.promise).use(order),
    show: async (pairs) => (await opening.promise).show(pairs),
    setLogLevel: async (level) => (await opening.promise).setLogLevel(level),
    hear: async (news) => (await opening.promise).hear(news),
    snapshot: async () => (await opening.promise).snapshot(),
    drain: () => close(),
  };
  const { peer } = connectPeer(
    {
      send: (message) => void process.send?.(message, undefined, undefined, () => undefined),
      onMessage: (listener) => void process.on('message', listener),
    },
    { ...answers },
  );
  const primary = peer<PrimaryAnswers>();
  const log = (lines: string): boolean => {
    if (unacknowledged + lines.length > MAX_UNACKNOWLEDGED) return false;
    unacknowledged += lines.length;
    const arrived = (): void => {
      unacknowledged -= lines.length;
    };
    primary('log', lines).then(arrived, arrived);
    return true;
  };

  const drainAndReport = async (): Promise<void> => {
    const worker = await opening.promise;
    await worker.close();
    await primary('farewell', await worker.snapshot());
  };
  const close = (): Promise<void> => {
    closing ??= drainAndReport();
    return closing;
  };

  process.on('uncaughtException', (error) => {
    const fail = async (): Promise<void> => {
      (await opening.promise).onUncaught(error);
      if (closing === undefined) await primary('leaving', undefined);
      await close();
    };
    const exit = () => process.exit(FAILED);
    fail().then(exit, exit);
  });
  // Without the primary no other process would end this one.
  process.once('disconnect', () => process.exit(0));
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined);
}
