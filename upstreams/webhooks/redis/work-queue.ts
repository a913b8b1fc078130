// Schedules due deliveries with BullMQ, one job per round of a delivery; the record decides, so a surplus job does nothing and a
// lost job is added again.
import { setTimeout as pause } from 'node:timers/promises';
import { DelayedError, type Job, Queue, Worker } from 'bullmq';
import type { Delivery } from '../delivery.ts';
import type { Handle, Work, WorkOptions } from '../store.ts';
import type { Connection } from './connection.ts';

export interface WorkQueue {
  /** Never rejects. Workers find deliveries that could not be added. */
  readonly add: (deliveries: readonly Delivery[]) => Promise<void>;
  readonly work: (handle: Handle, options: WorkOptions) => Work;
  readonly close: () => Promise<void>;
}

export interface WorkQueueOptions {
  readonly prefix: string;
  readonly now: () => number;
  readonly onFault: (error: unknown) => void;
}

interface JobData {
  readonly delivery: string;
}

const NAME = 'deliveries';
const ADD_AT_ONCE = 500;
const AFTER_FAULT_MS = 1_000;
const CLOSE_WITHIN_MS = 1_000;
/** BullMQ must not limit the attempts: the record of the delivery counts them. */
const NO_END = 2 ** 31 - 1;

export function createWorkQueue(
  connection: Connection,
  { prefix, now, onFault }: WorkQueueOptions,
): WorkQueue {
  const where = { prefix: `${prefix}queue` };
  let opened: Promise<Queue<JobData>> | undefined;
  const open = async (): Promise<Queue<JobData>> => {
    const queue = new Queue<JobData>(NAME, {
      ...where,
      connection: connection.redis,
      skipWaitingForReady: true,
      streams: { events: { maxLen: 100 } },
      defaultJobOptions: {
        attempts: NO_END,
        backoff: { type: 'custom' },
        removeOnComplete: true,
        removeOnFail: true,
        stackTraceLimit: 0,
      },
    });
    queue.on('error', onFault);
    await queue.waitUntilReady();
    return queue;
  };
  /** A BullMQ queue that failed to open never opens, so the next call makes a new one. */
  const queueNow = async (): Promise<Queue<JobData>> => {
    const opening = opened ?? open();
    opened = opening;
    try {
      return await opening;
    } catch (error) {
      if (opened === opening) opened = undefined;
      throw error;
    }
  };

  const add = async (deliveries: readonly Delivery[]): Promise<void> => {
    if (deliveries.length === 0) return;
    try {
      const queue = await queueNow();
      // BullMQ ignores a job whose id exists.
      await queue.addBulk(
        deliveries.map(({ id, round, nextAt }) => ({
          name: 'deliver',
          data: { delivery: id },
          opts: { jobId: `${id}-${round}`, delay: Math.max(0, nextAt - now()) },
        })),
      );
    } catch (error) {
      onFault(error);
    }
  };

  /** Adds pending deliveries that were due before `before` and may have no job. */
  const addLate = async (before: number): Promise<void> => {
    for (let offset = 0; ; offset += ADD_AT_ONCE) {
      const ids = await connection.ask((redis) =>
        redis.zrangebyscore(`${prefix}state:pending`, '-inf', before, 'LIMIT', offset, ADD_AT_ONCE),
      );
      if (ids.length === 0) return;
      const found = await connection.ask((redis) => redis.mget(ids.map((id) => `${prefix}delivery:${id}`)));
      await add(found.filter((raw) => raw !== null).map((raw) => JSON.parse(raw) as Delivery));
    }
  };

  const work = (handle: Handle, { concurrency, leaseMs, onFault: onWorkFault }: WorkOptions): Work => {
    const client = connection.forWorker();
    const running = new Set<Promise<unknown>>();
    const process = async (job: Job<JobData>, token?: string): Promise<void> => {
      const handling = handle(job.data.delivery);
      running.add(handling);
      const next = await handling.finally(() => running.delete(handling));
      if (next.kind === 'finished') return;
      await job.moveToDelayed(next.at, token);
      throw new DelayedError();
    };
    const worker = new Worker<JobData>(NAME, process, {
      ...where,
      connection: client,
      concurrency,
      lockDuration: leaseMs,
      stalledInterval: Math.ceil(leaseMs / 2),
      maxStalledCount: NO_END,
      runRetryDelay: AFTER_FAULT_MS,
      settings: { backoffStrategy: () => AFTER_FAULT_MS },
    });
    worker.on('error', onWorkFault);
    worker.on('failed', (_job, error) => onWorkFault(error));
    let polling = addLate(now()).catch(onWorkFault);
    const timer = setInterval(() => {
      polling = polling.then(() => addLate(now() - leaseMs)).catch(onWorkFault);
    }, leaseMs / 2);
    return {
      stop: async () => {
        clearInterval(timer);
        const closed = worker.close().catch(onWorkFault);
        await Promise.allSettled(running);
        // The records are complete. While Redis is unavailable, jobs cannot be settled and return later.
        await Promise.race([closed, pause(CLOSE_WITHIN_MS)]);
        client.disconnect();
        await polling;
      },
    };
  };

  return {
    add,
    work,
    close: async () => {
      const queue = await opened?.catch(() => undefined);
      await queue?.close();
    },
  };
}
