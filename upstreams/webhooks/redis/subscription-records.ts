// Subscriptions in Redis, and an index by event type.
import type { SubscriptionRecords } from '../store.ts';
import type { Subscription } from '../subscription.ts';
import type { Connection } from './connection.ts';

export function createSubscriptionRecords(connection: Connection, prefix: string): SubscriptionRecords {
  const save = connection.script('save-subscription');
  const remove = connection.script('remove-subscription');
  const keyOf = (id: string) => `${prefix}subscription:${id}`;
  const readRaw = (id: string) => connection.ask((redis) => redis.get(keyOf(id)));
  const write = async (
    raw: string,
    before: Subscription | undefined,
    after: Subscription,
  ): Promise<boolean> => {
    const wanted = [before, after].map((each) => JSON.stringify(wantedBy(each)));
    const { id, owner, created } = after;
    const args = [prefix, id, raw, JSON.stringify(after), owner, created, ...wanted];
    return (await save(keyOf(id), args)) === 1;
  };
  const listed = async (list: string): Promise<readonly Subscription[]> => {
    const ids = await connection.ask((redis) => redis.zrange(`${prefix}${list}`, '0', '-1'));
    if (ids.length === 0) return [];
    const found = await connection.ask((redis) => redis.mget(ids.map(keyOf)));
    return found.filter((raw) => raw !== null).map(parse);
  };

  return {
    add: async (subscription) => {
      if (!(await write('', undefined, subscription))) throw new Error('a subscription with this id exists');
    },
    read: async (id) => {
      const raw = await readRaw(id);
      return raw === null ? undefined : parse(raw);
    },
    change: async (id, change) => {
      for (;;) {
        const raw = await readRaw(id);
        if (raw === null) return undefined;
        const before = parse(raw);
        const after = change(before);
        if (after === before || (await write(raw, before, after))) return after;
      }
    },
    remove: async (id) => (await remove(keyOf(id), [prefix, id])) === 1,
    ofOwner: (owner) => listed(`owner:${owner}`),
    wanting: async (type) =>
      (await listed(`wanting:${type}`)).filter((each) => wantedBy(each).includes(type)),
    all: () => listed('subscriptions'),
  };
}

function wantedBy(subscription: Subscription | undefined): readonly string[] {
  return subscription === undefined || subscription.disabled !== undefined ? [] : subscription.events;
}

function parse(raw: string): Subscription {
  return JSON.parse(raw) as Subscription;
}
