// Schedules due deliveries from webhooks.db: claims them under a lease and hands them to the delivery, up to a limit. If a
// process is killed, others claim its deliveries when the leases expire.
import { randomUUID } from 'node:crypto';
import type { Handle, Work, WorkOptions } from '../store.ts';
import type { Database } from './database.ts';

/** Another process may have made a delivery due or lost one, without notice. */
const LOOK_AGAIN_MS = 1_000;
const AFTER_FAULT_MS = 1_000;
const SOONEST_MS = 1;

export interface DueTable {
  readonly work: (handle: Handle, options: WorkOptions) => Work;
  readonly wake: () => void;
}

export function createDueTable(database: Database, now: () => number): DueTable {
  const claim = database.prepare(
    `UPDATE delivery SET leased_by = ?, leased_until = ? WHERE id IN (
       SELECT id FROM delivery WHERE state = 'pending' AND due <= ? AND leased_until <= ? ORDER BY due LIMIT ?
     ) RETURNING id`,
  );
  const release = database.prepare('UPDATE delivery SET leased_until = ? WHERE id = ? AND leased_by = ?');
  const nextDue = database.prepare(
    "SELECT min(due) AS due FROM delivery WHERE state = 'pending' AND leased_until <= ?",
  );
  const wakers = new Set<() => void>();

  const work = (handle: Handle, { concurrency, leaseMs, onFault }: WorkOptions): Work => {
    const me = randomUUID();
    const running = new Set<Promise<void>>();
    let stopped = false;
    let timer: NodeJS.Timeout | undefined;
    let looking: NodeJS.Immediate | undefined;

    const look = (): void => {
      looking = undefined;
      if (stopped) return;
      try {
        const room = concurrency - running.size;
        // A claim is a write, which blocks this process while another one writes. It is made only if something is due.
        if (room > 0 && untilDue() <= SOONEST_MS) for (const id of claimed(room)) start(id);
        schedule(running.size < concurrency ? untilDue() : LOOK_AGAIN_MS);
      } catch (error) {
        onFault(error);
        schedule(AFTER_FAULT_MS);
      }
    };
    const claimed = (room: number): readonly string[] =>
      database.soon(() => claim.all(me, now() + leaseMs, now(), now(), room).map((row) => String(row.id)));
    const untilDue = (): number => {
      const due = nextDue.get(now())?.due;
      return typeof due === 'number'
        ? Math.min(LOOK_AGAIN_MS, Math.max(SOONEST_MS, due - now()))
        : LOOK_AGAIN_MS;
    };
    const schedule = (afterMs: number): void => {
      clearTimeout(timer);
      timer = setTimeout(look, afterMs);
    };
    const wake = (): void => {
      if (!stopped) looking ??= setImmediate(look);
    };
    const start = (id: string): void => {
      // The record already has the result of the handle. Only the lease is given back.
      const run = handle(id)
        .then(
          () => 0,
          (error: unknown) => {
            onFault(error);
            return now() + AFTER_FAULT_MS;
          },
        )
        .then((until) => void database.soon(() => release.run(until, id, me)))
        .catch(onFault)
        .finally(() => {
          running.delete(run);
          wake();
        });
      running.add(run);
    };

    wakers.add(wake);
    wake();
    return {
      stop: async () => {
        stopped = true;
        wakers.delete(wake);
        clearTimeout(timer);
        if (looking !== undefined) clearImmediate(looking);
        await Promise.all(running);
      },
    };
  };

  return {
    work,
    wake: () => {
      for (const wake of wakers) wake();
    },
  };
}
