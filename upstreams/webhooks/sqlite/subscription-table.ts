// Subscriptions in webhooks.db, and an index by event type.
import type { SubscriptionRecords } from '../store.ts';
import type { Subscription } from '../subscription.ts';
import type { Database } from './database.ts';
import { present, toSubscription } from './records.ts';

export function createSubscriptionTable(database: Database): SubscriptionRecords {
  const insert = database.prepare(
    'INSERT INTO subscription (id, owner, created, record) VALUES (?, ?, ?, ?)',
  );
  const update = database.prepare('UPDATE subscription SET record = ? WHERE id = ?');
  const select = database.prepare('SELECT record FROM subscription WHERE id = ?');
  const ofOwner = database.prepare('SELECT record FROM subscription WHERE owner = ? ORDER BY created, rowid');
  const all = database.prepare('SELECT record FROM subscription ORDER BY created, rowid');
  const want = database.prepare('INSERT INTO wanted (type, subscription) VALUES (?, ?)');
  const wantNothing = database.prepare('DELETE FROM wanted WHERE subscription = ?');
  const wanting = database.prepare(
    `SELECT record FROM wanted JOIN subscription ON subscription.id = wanted.subscription
     WHERE wanted.type = ? ORDER BY created, subscription.rowid`,
  );
  const remove = ['subscription WHERE id', 'health WHERE subscription', 'delivery WHERE subscription'].map(
    (what) => database.prepare(`DELETE FROM ${what} = ?`),
  );

  const read = (id: string) => toSubscription(select.get(id));
  const writeWanted = ({ id, events, disabled }: Subscription): void => {
    wantNothing.run(id);
    if (disabled === undefined) for (const type of events) want.run(type, id);
  };
  return {
    add: async (subscription) =>
      database.durably(() => {
        const { id, owner, created } = subscription;
        insert.run(id, owner, created, JSON.stringify(subscription));
        writeWanted(subscription);
      }),
    read: async (id) => read(id),
    change: async (id, change) =>
      database.durably(() => {
        const before = read(id);
        if (before === undefined) return undefined;
        const after = change(before);
        if (after === before) return before;
        update.run(JSON.stringify(after), id);
        writeWanted(after);
        return after;
      }),
    remove: async (id) =>
      database.durably(() => {
        wantNothing.run(id);
        return remove.map((each) => each.run(id).changes).at(0) !== 0;
      }),
    ofOwner: async (owner) => present(ofOwner.all(owner).map(toSubscription)),
    wanting: async (type) => present(wanting.all(type).map(toSubscription)),
    all: async () => present(all.all().map(toSubscription)),
  };
}
