// Deliveries in Redis: each is in a sorted set by state and in the log of its subscription.
import { DELIVERY_STATES, type Delivery, type DeliveryState, type EpochMs } from '../delivery.ts';
import type { DeliveryRecords } from '../store.ts';
import type { Connection } from './connection.ts';

export interface DeliveryRecordsOptions {
  readonly prefix: string;
  readonly now: () => EpochMs;
  /** Gets deliveries that a change has made due. */
  readonly onDue: (deliveries: readonly Delivery[]) => Promise<void>;
}

export function createDeliveryRecords(
  connection: Connection,
  { prefix, now, onDue }: DeliveryRecordsOptions,
): DeliveryRecords {
  const save = connection.script('save-delivery');
  const keyOf = (id: string) => `${prefix}delivery:${id}`;
  const readRaw = (id: string) => connection.ask((redis) => redis.get(keyOf(id)));
  const write = async (raw: string, before: Delivery, after: Delivery): Promise<boolean> => {
    const { id, subscription, event, state, nextAt, updated, created } = after;
    const score = state === 'pending' ? nextAt : updated;
    const record = JSON.stringify(after);
    const args = [prefix, id, raw, record, subscription, event, before.state, state, score, created, now()];
    return (await save(keyOf(id), args)) === 1;
  };

  return {
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
        if (after === before) return before;
        if (!(await write(raw, before, after))) continue;
        if (before.state !== 'pending' && after.state === 'pending') await onDue([after]);
        return after;
      }
    },
    page: async (subscription, { state, offset, limit }) => {
      const log = `${prefix}log:${subscription}${state === undefined ? '' : `:${state}`}`;
      const total = await connection.ask((redis) => redis.zcard(log));
      const ids = await connection.ask((redis) => redis.zrevrange(log, offset, offset + limit - 1));
      if (ids.length === 0) return { total, items: [] };
      const found = await connection.ask((redis) => redis.mget(ids.map(keyOf)));
      return { total, items: found.filter((raw) => raw !== null).map(parse) };
    },
    counts: async () => {
      const counted = await Promise.all(
        DELIVERY_STATES.map((state) => connection.ask((redis) => redis.zcard(`${prefix}state:${state}`))),
      );
      return Object.fromEntries(
        DELIVERY_STATES.map((state, index) => [state, counted[index] ?? 0]),
      ) as Record<DeliveryState, number>;
    },
    oldestDue: async () => {
      const [, score] = await connection.ask((redis) =>
        redis.zrange(`${prefix}state:pending`, '0', '0', 'WITHSCORES'),
      );
      return score === undefined ? undefined : Number(score);
    },
  };
}

function parse(raw: string): Delivery {
  return JSON.parse(raw) as Delivery;
}
