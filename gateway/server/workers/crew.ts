// The workers of a primary: as many as were asked for, all with the same plan, each replaced when it ends.
import type { MonotonicMs } from '../../policy/contract.ts';
import type { Logger } from '../../telemetry/logs/logger.ts';
import type { MetricsSnapshot } from '../../telemetry/snapshots.ts';
import type { KeyPair } from '../certificates.ts';
import { createWorkerCounts } from './counts.ts';
import type { WorkerProcess } from './fork.ts';
import { createRestartDelay, pause, within } from './pace.ts';
import { type Answers, messageOf, type Peer, PeerGone } from './peer.ts';
import type { BoundListeners, PlanOrder, PrimaryAnswers, WorkerAnswers, WorkerStart } from './protocol.ts';

export interface WorkerPoolOptions {
  readonly size: number;
  readonly fork: (answers: Answers) => WorkerProcess;
  /** What the stores answer a worker. */
  readonly answers: Answers;
  /** What a worker begins with, besides the plan. */
  readonly start: () => Omit<WorkerStart, 'order'>;
  readonly order: PlanOrder;
  /** Of the plan that the workers use, or are being told to use. */
  readonly pieces: PrimaryAnswers['pieces'];
  /** Takes log lines of workers. */
  readonly relay: (lines: string) => void;
  readonly logger: Pick<Logger, 'warn' | 'error'>;
  /** Milliseconds after which a worker that still drains is ended. */
  readonly drainWithinMs: number;
  readonly monotonic: () => MonotonicMs;
  /** Milliseconds; what a worker has counted since the last look is lost with it. Default: five seconds. */
  readonly countEveryMs?: number;
}

export interface WorkerPool {
  /**
   * Starts all workers. Rejects with the reason that a worker gives why it cannot start, or when one ends again and again
   * before it could.
   */
  readonly listen: () => Promise<BoundListeners>;
  /** Resolves when no request is judged by another plan any more: a worker that cannot follow is replaced. */
  readonly use: (order: PlanOrder) => Promise<void>;
  /** What the stores tell those of the workers; resolves when every worker has heard, or is out of reach. */
  readonly notify: (news: unknown) => Promise<void>;
  /** Resolves when every worker shows them, or is out of reach. */
  readonly show: (pairs: readonly KeyPair[]) => Promise<void>;
  /** Workers that answer requests. */
  readonly serving: () => number;
  readonly snapshots: () => Promise<readonly MetricsSnapshot[]>;
  /** Resolves with true when all have ended by themselves. Nobody is replaced from now on. */
  readonly drain: () => Promise<boolean>;
  /** Ends at once whoever is left. */
  readonly close: () => Promise<void>;
}

const STARTS_TRIED = 3;
/** Thousands of changed files take a worker seconds, since it compiles between requests. */
const FOLLOWS_WITHIN_MS = 30_000;
/** A look costs a worker milliseconds, by how many series it has. */
const COUNT_EVERY_MS = 5_000;
/** For what takes a worker milliseconds unless something is very wrong with it. */
const NOTIFY_WITHIN_MS = 1_000;

interface PoolMember {
  readonly worker: WorkerProcess;
  readonly ask: Peer<WorkerAnswers>;
  /** Of the plan that it is known to judge by. */
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

  const kill = async ({ worker }: PoolMember): Promise<void> => {
    worker.kill();
    await worker.ended;
  };

  /** Brings a worker to the plan in force; one that does not get there is ended, and so replaced. */
  const updatePlan = async (member: PoolMember): Promise<void> => {
    while (member.revision !== order.revision && members.has(member)) {
      const next = order;
      try {
        await within(FOLLOWS_WITHIN_MS, member.ask('use', next));
        member.revision = next.revision;
      } catch (error) {
        const reason = messageOf(error);
        logger.error('a worker does not take over the plan', { worker: member.worker.pid, reason });
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
        void replace(member, 'an error of its own');
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
    if (closing.signal.aborted) throw new PeerGone('the crew ends');
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
    logger.warn('a worker has ended; another takes its place', { worker: pid, reason: how });
    for (;;) {
      await pause(nextPause(), closing.signal);
      try {
        await startMember();
        return;
      } catch (error) {
        if (closing.signal.aborted) return;
        logger.error('a worker cannot start; it is tried again', { reason: messageOf(error) });
      }
    }
  };

  const startWithRetries = async (): Promise<BoundListeners> => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await startMember();
      } catch (error) {
        // What a worker says itself would be no other a moment later.
        if (!(error instanceof PeerGone) || attempt === STARTS_TRIED || closing.signal.aborted) throw error;
        await pause(nextPause(), closing.signal);
      }
    }
  };

  const drainMember = async (member: PoolMember): Promise<boolean> => {
    member.state = 'leaving';
    const drained = within(options.drainWithinMs, member.ask('drain', undefined)).then(
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
      // Those that start as well: they accept connections before they have said so.
      await Promise.all([...members].filter(({ state }) => state !== 'leaving').map(updatePlan));
    },
    notify: async (news) => {
      // Whoever cannot hear is about to end, and the next one begins with what holds then.
      await Promise.allSettled([...members].map(({ ask }) => within(NOTIFY_WITHIN_MS, ask('hear', news))));
    },
    show: async (pairs) => {
      await Promise.allSettled([...members].map(({ ask }) => within(NOTIFY_WITHIN_MS, ask('show', pairs))));
    },
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
