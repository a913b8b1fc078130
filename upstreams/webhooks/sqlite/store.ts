// The webhooks store in one SQLite file, for one machine.

import { HEALTHY } from '../health.ts';
import type { Change, WebhookStore } from '../store.ts';
import { openDatabase } from './database.ts';
import { createDeliveryTable } from './delivery-table.ts';
import { createDueTable } from './due-table.ts';
import { toEvent, toHealth } from './records.ts';
import { createSubscriptionTable } from './subscription-table.ts';

export interface SqliteOptions {
  readonly file: string;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** How long to wait for another process; default two seconds. */
  readonly busyTimeoutMs?: number;
}

/** @throws SQLite's error if the file cannot be opened */
export function openSqliteStore({ file, now, busyTimeoutMs }: SqliteOptions): WebhookStore {
  const database = openDatabase(file, busyTimeoutMs);
  const due = createDueTable(database, now);
  const deliveries = createDeliveryTable(database, due.wake);
  const addEvent = database.prepare('INSERT OR IGNORE INTO event (id, type, body, kept) VALUES (?, ?, ?, ?)');
  const readEvent = database.prepare('SELECT id, type, body, kept FROM event WHERE id = ?');
  const readHealth = database.prepare('SELECT record FROM health WHERE subscription = ?');
  const writeHealth = database.prepare('INSERT OR REPLACE INTO health (subscription, record) VALUES (?, ?)');
  const forgetDeliveries = database.prepare("DELETE FROM delivery WHERE state <> 'pending' AND updated < ?");
  const forgetEvents = database.prepare(
    'DELETE FROM event WHERE kept < ? AND NOT EXISTS (SELECT 1 FROM delivery WHERE event = event.id)',
  );
  const health = (subscription: string) => toHealth(readHealth.get(subscription)) ?? HEALTHY;

  return {
    kind: 'sqlite',
    subscriptions: createSubscriptionTable(database),
    deliveries: deliveries.records,
    health: {
      read: async (subscription) => health(subscription),
      change: async (subscription, change: Change<ReturnType<typeof health>>) =>
        database.soon(() => {
          const before = health(subscription);
          const after = change(before);
          if (after !== before) writeHealth.run(subscription, JSON.stringify(after));
          return after;
        }),
    },
    keep: async ({ id, type, body, kept }, made) => {
      const result = database.durably(() => {
        if (addEvent.run(id, type, body, kept).changes === 0) return 'known';
        for (const delivery of made) deliveries.add(delivery);
        return 'kept';
      });
      due.wake();
      return result;
    },
    event: async (id) => toEvent(readEvent.get(id)),
    work: due.work,
    forget: async (before) =>
      database.soon(() => {
        forgetDeliveries.run(before);
        forgetEvents.run(before);
      }),
    close: async () => database.close(),
  };
}
