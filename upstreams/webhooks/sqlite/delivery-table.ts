// Deliveries in webhooks.db.
import { DELIVERY_STATES, type Delivery, type DeliveryState } from '../delivery.ts';
import type { DeliveryRecords } from '../store.ts';
import type { Database } from './database.ts';
import { present, toDelivery } from './records.ts';

export interface DeliveryTable {
  readonly records: DeliveryRecords;
  /** Runs within a transaction of the caller. */
  readonly add: (delivery: Delivery) => void;
}

/** `onDue` is called when a change has made a delivery due. */
export function createDeliveryTable(database: Database, onDue: () => void): DeliveryTable {
  const insert = database.prepare(
    'INSERT INTO delivery (id, subscription, event, state, due, updated, record) VALUES (?, ?, ?, ?, ?, ?, ?)',
  );
  const update = database.prepare(
    'UPDATE delivery SET state = ?, due = ?, updated = ?, record = ? WHERE id = ?',
  );
  const select = database.prepare('SELECT record FROM delivery WHERE id = ?');
  const of = 'FROM delivery WHERE subscription = ? AND (? IS NULL OR state = ?)';
  const count = database.prepare(`SELECT count(*) AS total ${of}`);
  const page = database.prepare(`SELECT record ${of} ORDER BY rowid DESC LIMIT ? OFFSET ?`);
  const counts = database.prepare('SELECT state, count(*) AS total FROM delivery GROUP BY state');
  const oldestDue = database.prepare("SELECT min(due) AS due FROM delivery WHERE state = 'pending'");

  const read = (id: string) => toDelivery(select.get(id));
  return {
    add: (delivery) => {
      const { id, subscription, event, state, nextAt, updated } = delivery;
      insert.run(id, subscription, event, state, nextAt, updated, JSON.stringify(delivery));
    },
    records: {
      read: async (id) => read(id),
      change: async (id, change) => {
        const before = read(id);
        if (before === undefined) return undefined;
        const again = before.state !== 'pending';
        // A replay was acknowledged to its owner, so it is synced. The result of an attempt can be found again by another
        // attempt.
        const after = (again ? database.durably : database.soon)(() => {
          const present = read(id);
          if (present === undefined) return undefined;
          const next = change(present);
          if (next === present) return present;
          update.run(next.state, next.nextAt, next.updated, JSON.stringify(next), id);
          return next;
        });
        if (again && after?.state === 'pending') onDue();
        return after;
      },
      page: async (subscription, { state = null, offset, limit }) => ({
        total: Number(count.get(subscription, state, state)?.total),
        items: present(page.all(subscription, state, state, limit, offset).map(toDelivery)),
      }),
      counts: async () => {
        const found = new Map(counts.all().map((row) => [row.state, Number(row.total)]));
        return Object.fromEntries(DELIVERY_STATES.map((state) => [state, found.get(state) ?? 0])) as Record<
          DeliveryState,
          number
        >;
      },
      oldestDue: async () => {
        const due = oldestDue.get()?.due;
        return typeof due === 'number' ? due : undefined;
      },
    },
  };
}
