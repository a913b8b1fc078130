// The store ports that depend on no other port, with one implementation for each store.
import type { DatabaseSync } from 'node:sqlite';
import { announcedOperations, embeddedAnnounced } from './embedded/announced.ts';
import { embeddedLedger } from './embedded/ledger.ts';
import { createLedgerOperations } from './embedded/ledger-operations.ts';
import { embeddedPublished, publishedOperations } from './embedded/published.ts';
import { createRedisAnnounced } from './redis/announced.ts';
import type { RedisConnection } from './redis/connect.ts';
import { createRedisLedger } from './redis/ledger.ts';
import { createRedisPublished } from './redis/published.ts';
import { type CallThread, storePort } from './store-port.ts';

const PORTS = {
  announced: storePort(announcedOperations, embeddedAnnounced, createRedisAnnounced),
  ledger: storePort(createLedgerOperations, embeddedLedger, createRedisLedger),
  published: storePort(publishedOperations, embeddedPublished, createRedisPublished),
};

type Row = (typeof PORTS)[keyof typeof PORTS];
export type Ports = { readonly [K in keyof typeof PORTS]: ReturnType<(typeof PORTS)[K]['redis']> };
/** The intersection of the operations of all rows. */
export type PortOperations =
  ByOne<ReturnType<Row['operations']>> extends (own: infer All) => void ? All : never;
type ByOne<Own> = Own extends unknown ? (own: Own) => void : never;

export function createPortOperations(database: DatabaseSync): PortOperations {
  const own = Object.values(PORTS).map(({ operations }) => operations(database));
  return Object.assign({}, ...own) as PortOperations;
}

export function openEmbeddedPorts(call: CallThread<PortOperations>): Ports {
  return openAll(({ embedded }) => embedded(call as never));
}

export function openRedisPorts(connection: RedisConnection): Ports {
  return openAll(({ redis }) => redis(connection));
}

function openAll(open: (row: Row) => Ports[keyof Ports]): Ports {
  return Object.fromEntries(
    Object.entries(PORTS).map(([name, row]) => [name, open(row)]),
  ) as unknown as Ports;
}
