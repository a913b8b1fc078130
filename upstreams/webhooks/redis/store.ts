// The webhooks store in Redis, for several machines: records as JSON, each changed only if it is still as it was read.
import type { Delivery, KeptEvent } from '../delivery.ts';
import { HEALTHY, type Health } from '../health.ts';
import type { WebhookStore } from '../store.ts';
import { connect } from './connection.ts';
import { createDeliveryRecords } from './delivery-records.ts';
import { weaknessesOf } from './persistence.ts';
import { createSubscriptionRecords } from './subscription-records.ts';
import { createWorkQueue } from './work-queue.ts';

export interface RedisStoreOptions {
  readonly url: string;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly onFault: (error: unknown) => void;
  /** Prefix of every key, with a hash tag so that a cluster keeps them on one node. */
  readonly prefix?: string;
}

const FORGET_AT_ONCE = 500;

/** Resolves whether or not Redis answers. While it does not, calls reject with `StoreUnavailable`. */
export async function openRedisStore({
  url,
  now,
  onFault,
  prefix = '{sundial-webhooks}:',
}: RedisStoreOptions): Promise<WebhookStore> {
  const connection = await connect(url, onFault);
  const checkSettings = (): void => {
    weaknessesOf(connection.redis).then((found) => {
      for (const weakness of found) onFault(weakness);
    }, onFault);
  };
  connection.redis.on('ready', checkSettings);
  if (connection.redis.status === 'ready') checkSettings();
  const queue = createWorkQueue(connection, { prefix, now, onFault });
  const keep = connection.script('keep');
  const saveRecord = connection.script('save-record');
  const forget = connection.script('forget');
  const eventKey = (id: string) => `${prefix}event:${id}`;
  const healthKey = (subscription: string) => `${prefix}health:${subscription}`;
  const read = (key: string) => connection.ask((redis) => redis.get(key));

  return {
    kind: 'redis',
    subscriptions: createSubscriptionRecords(connection, prefix),
    deliveries: createDeliveryRecords(connection, { prefix, now, onDue: queue.add }),
    health: {
      read: async (subscription) => parse<Health>(await read(healthKey(subscription))) ?? HEALTHY,
      change: async (subscription, change) => {
        for (;;) {
          const raw = (await read(healthKey(subscription))) ?? '';
          const before = parse<Health>(raw) ?? HEALTHY;
          const after = change(before);
          if (after === before) return before;
          if ((await saveRecord(healthKey(subscription), [raw, JSON.stringify(after)])) === 1) return after;
        }
      },
    },
    keep: async (event, deliveries) => {
      const args = [
        prefix,
        event.id,
        JSON.stringify(event),
        event.kept,
        ...deliveries.flatMap(keepArguments),
      ];
      if ((await keep(eventKey(event.id), args)) !== 1) return 'known';
      await queue.add(deliveries);
      return 'kept';
    },
    event: async (id) => parse<KeptEvent>(await read(eventKey(id))),
    work: queue.work,
    forget: async (before) => {
      for (const state of ['delivered', 'dead']) {
        const args = [prefix, state, before, FORGET_AT_ONCE];
        while (Number(await forget(`${prefix}state:${state}`, args)) >= FORGET_AT_ONCE);
      }
    },
    close: async () => {
      await queue.close();
      connection.close();
    },
  };
}

function keepArguments(delivery: Delivery): readonly (string | number)[] {
  const { id, subscription, created, nextAt } = delivery;
  return [id, subscription, JSON.stringify(delivery), created, nextAt];
}

function parse<T>(raw: string | null): T | undefined {
  // Only this store writes the records, so their form is not checked.
  return raw === null || raw === '' ? undefined : (JSON.parse(raw) as T);
}
