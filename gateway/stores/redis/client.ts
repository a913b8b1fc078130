// The ioredis client of one connection: to a server, or to the primary that sentinels name.
import type { Redis as Client, RedisOptions } from 'ioredis';
import type { RedisAddress, RedisServer } from '../redis-address.ts';

/** Limit for a connection attempt and for a reply of a sentinel. */
export const CONNECT_WITHIN_MS = 1000;
const LONGEST_BACK_OFF_MS = 1000;

type RedisClientOptions = RedisOptions & { readonly replyMapping: 'legacy' };

export interface RedisClients {
  /** A single Redis, or the primary behind sentinels. */
  readonly primary: (address: Extract<RedisAddress, { readonly kind: 'single' | 'sentinel' }>) => Client;
  readonly node: (address: RedisAddress, server: RedisServer) => Client;
}

/** Imports ioredis only here: most gateways use no Redis and start faster without it. */
export async function loadClients(): Promise<RedisClients> {
  const { Redis } = await import('ioredis');
  const { default: handlers } = await import('ioredis/built/DataHandler.js');
  patchEmptyReplies(handlers.default.prototype);
  const connectTo = (address: RedisAddress, { host, port }: RedisServer, database = 0): Client =>
    new Redis({ ...optionsOf(address), host, port, db: database });
  return {
    primary: (address) => {
      if (address.kind === 'sentinel') return new Redis(sentinelOptions(address));
      const [server] = address.servers;
      if (server === undefined) throw new Error('the Redis URL names no server');
      return connectTo(address, server, address.database);
    },
    node: connectTo,
  };
}

const patched = new WeakSet<object>();

/**
 * ioredis reports a reply that no command waits for as an error of the connection. For an empty reply it
 * throws instead, which would end the process; no option prevents that.
 */
function patchEmptyReplies(replyHandler: object): void {
  const shift: unknown = Reflect.get(replyHandler, 'shiftCommand');
  if (typeof shift !== 'function' || patched.has(replyHandler)) return;
  patched.add(replyHandler);
  Reflect.set(replyHandler, 'shiftCommand', function (this: unknown, reply: unknown) {
    return Reflect.apply(shift, this, [reply ?? 'nothing']);
  });
}

function optionsOf({ secure, login: { username, password } }: RedisAddress): RedisClientOptions {
  return {
    // No offline queue and no resend: a take whose reply was lost may have been counted.
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    connectTimeout: CONNECT_WITHIN_MS,
    // Closes a connection whose peer has stalled or vanished, also during the handshake, so that ioredis
    // reconnects.
    socketTimeout: CONNECT_WITHIN_MS,
    retryStrategy: backOff,
    // A primary that became a replica refuses writes. Reconnecting finds the new primary behind the same
    // name.
    reconnectOnError: (error) => error.message.startsWith('READONLY'),
    disableClientInfo: true,
    replyMapping: 'legacy',
    connectionName: 'sundial',
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(secure && { tls: {} }),
  };
}

function sentinelOptions(address: Extract<RedisAddress, { readonly kind: 'sentinel' }>): RedisClientOptions {
  const { username, password } = address.sentinelLogin;
  return {
    ...optionsOf(address),
    sentinels: address.servers.map(({ host, port }) => ({ host, port })),
    name: address.primary,
    db: address.database,
    sentinelCommandTimeout: CONNECT_WITHIN_MS,
    sentinelRetryStrategy: backOff,
    ...(username !== undefined && { sentinelUsername: username }),
    ...(password !== undefined && { sentinelPassword: password }),
    ...(address.secure && { enableTLSForSentinelMode: true, sentinelTLS: {} }),
  };
}

/**
 * Random factor of 0.75 to 1.25, so that gateways that lost the same Redis do not reconnect at the same
 * moment.
 */
const backOff = (attempt: number): number =>
  Math.min(LONGEST_BACK_OFF_MS, 25 * 2 ** Math.min(attempt, 6)) * (0.75 + Math.random() / 2);
