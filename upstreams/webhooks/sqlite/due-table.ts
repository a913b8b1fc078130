// Schedules due deliveries from webhooks.db: claims them under a lease and hands them to the delivery, up to a limit. If a
// process is killed, others claim its deliveries when the leases expire.
import { randomUUID } from 'node:crypto';
import type { Handle, Work, WorkOptions } from '../store.ts';
import type { Database } from './database.ts';

/** Another process may have made a delivery due or lost one, without notice. */
const POLL_MS = 1_000;
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
  const wakeCallbacks = new Set<() => void>();

  const work = (handle: Handle, { concurrency, leaseMs, onFault }: WorkOptions): Work => {
    const workerId = randomUUID();
    const running = new Set<Promise<void>>();
    let stopped = false;
    let timer: NodeJS.Timeout | undefined;
    let scheduled: NodeJS.Immediate | undefined;

    const claimDue = (): void => {
      scheduled = undefined;
      if (stopped) return;
      try {
        const capacity = concurrency - running.size;
        // A claim is a write, which blocks this process while another one writes. It is made only if something is due.
        if (capacity > 0 && msUntilDue() <= SOONEST_MS) for (const id of claimed(capacity)) start(id);
        schedule(running.size < concurrency ? msUntilDue() : POLL_MS);
      } catch (error) {
        onFault(error);
        schedule(AFTER_FAULT_MS);
      }
    };
    const claimed = (capacity: number): readonly string[] =>
      database.soon(() =>
        claim.all(workerId, now() + leaseMs, now(), now(), capacity).map((row) => String(row.id)),
      );
    const msUntilDue = (): number => {
      const due = nextDue.get(now())?.due;
      return typeof due === 'number' ? Math.min(POLL_MS, Math.max(SOONEST_MS, due - now())) : POLL_MS;
    };
    const schedule = (afterMs: number): void => {
      clearTimeout(timer);
      timer = setTimeout(claimDue, afterMs);
    };
    const wake = (): void => {
      if (!stopped) scheduled ??= setImmediate(claimDue);
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
        .then((until) => void database.soon(() => release.run(until, id, workerId)))
        .catch(onFault)
        .finally(() => {
          running.delete(run);
          wake();
        });
      running.add(run);
    };

    wakeCallbacks.add(wake);
    wake();
    return {
      stop: async () => {
        stopped = true;
        wakeCallbacks.delete(wake);
        clearTimeout(timer);
        if (scheduled !== undefined) clearImmediate(scheduled);
        await Promise.all(running);
      },
    };
  };

  return {
    work,
    wake: () => {
      for (const wake of wakeCallbacks) wake();
    },
  };
}
