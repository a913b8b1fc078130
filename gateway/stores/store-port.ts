// The parts of a store port: its operations in the database thread, and one implementation for each store.
import type { DatabaseSync } from 'node:sqlite';
import type { RedisConnection } from './redis/connect.ts';

type Operations = Readonly<Record<string, (...args: never[]) => unknown>>;

/** Calls an operation in the database thread. Rejects only with `StoreUnavailable`. */
export type CallThread<Own extends Operations> = <N extends keyof Own>(
  name: N,
  ...args: Parameters<Own[N]>
) => Promise<ReturnType<Own[N]>>;

export interface StorePort<Port, Own extends Operations> {
  /** Called in the database thread. The operations of all ports share one namespace. */
  readonly operations: (database: DatabaseSync) => Own;
  readonly embedded: (call: CallThread<Own>) => Port;
  readonly redis: (connection: RedisConnection) => Port;
}

/** Makes the compiler check that the three parts fit each other. */
export function storePort<Port, Own extends Operations>(
  operations: StorePort<Port, Own>['operations'],
  embedded: StorePort<Port, Own>['embedded'],
  redis: StorePort<Port, Own>['redis'],
): StorePort<Port, Own> {
  return { operations, embedded, redis };
}
