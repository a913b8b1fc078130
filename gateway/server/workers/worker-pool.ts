// The primary's worker pool: a fixed number of workers with the same plan, each replaced when it ends.
import type { LogLevel } from '../../plan/grammar/logs-section.ts';
import type { MonotonicMs } from '../../policy/contract.ts';
import type { Logger } from '../../telemetry/logs/logger.ts';
import type { MetricsSnapshot } from '../../telemetry/snapshots.ts';
import type { KeyPair } from '../certificates.ts';
import type { WorkerProcess } from './fork.ts';
import { type Answers, messageOf, type Peer, PeerGone } from './peer.ts';
import type { BoundListeners, PlanOrder, PrimaryAnswers, WorkerAnswers, WorkerStart } from './protocol.ts';
import { createRestartDelay, pause, withTimeout } from './restart-delay.ts';
import { createWorkerCounts } from './worker-counts.ts';

export interface WorkerPoolOptions {
  readonly size: number;
  readonly fork: (answers: Answers) => WorkerProcess;
  readonly answers: Answers;
  readonly start: () => Omit<WorkerStart, 'order'>;
  readonly order: PlanOrder;
  readonly pieces: PrimaryAnswers['pieces'];
  readonly relay: (lines: string) => void;
  readonly logger: Pick<Logger, 'warn' | 'error'>;
  /** After this many milliseconds a draining worker is killed. */
  readonly drainWithinMs: number;
  readonly monotonic: () => MonotonicMs;
  /** Milliseconds between two snapshots. A crash loses the counts since the last one. Default: five seconds. */
  readonly countEveryMs?: number;
}

export interface WorkerPool {
  /** Rejects with a worker's own reason, or after `STARTS_TRIED` workers ended during their start. */
  readonly listen: () => Promise<BoundListeners>;
  /** Resolves when every worker uses this plan. A worker that fails to load it is replaced. */
  readonly use: (order: PlanOrder) => Promise<void>;
  /** Resolves when each worker has acknowledged it or is unreachable. */
  readonly notify: (news: unknown) => Promise<void>;
  /** Resolves like `notify`. */
  readonly show: (pairs: readonly KeyPair[]) => Promise<void>;
  /** Resolves like `notify`. */
  readonly setLogLevel: (level: LogLevel) => Promise<void>;
  readonly serving: () => number;
  readonly snapshots: () => Promise<readonly MetricsSnapshot[]>;
  /** True if all workers ended by themselves. No worker is replaced from now on. */
  readonly drain: () => Promise<boolean>;
  readonly close: () => Promise<void>;
}

const STARTS_TRIED = 3;
/** A worker needs seconds for thousands of changed files, because it compiles between requests. */
const FOLLOWS_WITHIN_MS = 30_000;
const COUNT_EVERY_MS = 5_000;
/** A healthy worker responds in milliseconds. */
const NOTIFY_WITHIN_MS = 1_000;

interface PoolMember {
  readonly worker: WorkerProcess;
  readonly ask: Peer<WorkerAnswers>;
  revision: string;
  state: 'starting' | 'serving' | 'leaving';
}

export function createWorkerPool(options: WorkerPoolOptions): WorkerPool {
  const { logger } = options;
  const members = new Set<PoolMember>();
  const nextPause = createRestartDelay(options.monotonic);
  const closing = new AbortController();
  let { order } = options;

  const serving = () => [...members].filter(({ state }) => state === 'serving');
  const counts = createWorkerCounts<PoolMember>({
    serving,
    ask: ({ ask }) => ask('snapshot', undefined),
    everyMs: options.countEveryMs ?? COUNT_EVERY_MS,
    monotonic: options.monotonic,
  });

  const sendToAll = async (send: (member: PoolMember) => Promise<void>): Promise<void> => {
    // An unreachable worker is about to end, and its replacement starts with the current state.
    await Promise.allSettled([...members].map((member) => withTimeout(NOTIFY_WITHIN_MS, send(member))));
  };

  const kill = async ({ worker }: PoolMember): Promise<void> => {
    worker.kill();
    await worker.ended;
  };

  /** Sends the newest plan until the worker has it. A worker that fails is killed and replaced. */
  const updatePlan = async (member: PoolMember): Promise<void> => {
    while (member.revision !== order.revision && members.has(member)) {
      const next = order;
      try {
        await withTimeout(FOLLOWS_WITHIN_MS, member.ask('use', next));
        member.revision = next.revision;
      } catch (error) {
        const reason = messageOf(error);
        logger.error('a worker failed to load the plan', { worker: member.worker.pid, reason });
        await kill(member);
      }
    }
  };

  const forkMember = (): PoolMember => {
    const primary: PrimaryAnswers = {
      pieces: options.pieces,
      log: options.relay,
      leaving: () => {
        if (member.state !== 'serving') return;
        member.state = 'leaving';
        void replace(member, 'an uncaught error');
      },
      farewell: (snapshot) => counts.keep(member, snapshot),
    };
    const worker = options.fork({ ...options.answers, ...primary });
    const { revision } = order;
    const member: PoolMember = { worker, ask: worker.peer<WorkerAnswers>(), revision, state: 'starting' };
    members.add(member);
    void worker.ended.then((how) => {
      members.delete(member);
      counts.remove(member);
      if (member.state === 'serving') void replace(member, how);
    });
    return member;
  };

  const startMember = async (): Promise<BoundListeners> => {
    if (closing.signal.aborted) throw new PeerGone('the worker pool is closing');
    const member = forkMember();
    try {
      const bound = await member.ask('start', { ...options.start(), order });
      await updatePlan(member);
      if (!members.has(member)) throw new PeerGone('the worker has ended');
      member.state = 'serving';
      return bound;
    } catch (error) {
      await kill(member);
      throw error;
    }
  };

  const replace = async ({ worker: { pid } }: PoolMember, how: string): Promise<void> => {
    if (closing.signal.aborted) return;
    logger.warn('a worker ended; the gateway starts another', { worker: pid, reason: how });
    for (;;) {
      await pause(nextPause(), closing.signal);
      try {
        await startMember();
        return;
      } catch (error) {
        if (closing.signal.aborted) return;
        logger.error('a worker failed to start; the gateway tries again', { reason: messageOf(error) });
      }
    }
  };

  const startWithRetries = async (): Promise<BoundListeners> => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await startMember();
      } catch (error) {
        // A reason reported by the worker does not disappear with a retry.
        if (!(error instanceof PeerGone) || attempt === STARTS_TRIED || closing.signal.aborted) throw error;
        await pause(nextPause(), closing.signal);
      }
    }
  };

  const drainMember = async (member: PoolMember): Promise<boolean> => {
    member.state = 'leaving';
    const drained = withTimeout(options.drainWithinMs, member.ask('drain', undefined)).then(
      () => true,
      () => false,
    );
    await drained;
    await kill(member);
    return drained;
  };

  return {
    listen: async () => {
      const [listeners] = await Promise.all(Array.from({ length: options.size }, startWithRetries));
      if (listeners === undefined) throw new Error('there is no worker');
      void counts.watch(closing.signal);
      return listeners;
    },
    use: async (next) => {
      order = next;
      // Includes starting workers: they accept connections before they report it.
      await Promise.all([...members].filter(({ state }) => state !== 'leaving').map(updatePlan));
    },
    notify: (news) => sendToAll(({ ask }) => ask('hear', news)),
    show: (pairs) => sendToAll(({ ask }) => ask('show', pairs)),
    setLogLevel: (level) => sendToAll(({ ask }) => ask('setLogLevel', level)),
    serving: () => serving().length,
    snapshots: counts.now,
    drain: async () => {
      closing.abort();
      const drained = await Promise.all([...members].map(drainMember));
      return !drained.includes(false);
    },
    close: async () => {
      closing.abort();
      await Promise.all([...members].map(kill));
    },
  };
}
