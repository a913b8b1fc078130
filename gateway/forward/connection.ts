// One keep-alive connection of a pool that knows how much it has read, so that a stale one can be told apart.
// undici has no other place from which the socket behind a failed request can be seen.
import type { Socket } from 'node:net';
import { buildConnector, Client, type Dispatcher, type Pool } from 'undici';

/** What is known of the connection a call runs on. */
export interface Connection {
  /** Answers completed on it; zero on a fresh connection. */
  served: number;
  /** Bytes read from the upstream so far. */
  readonly bytesRead: () => number;
}

/** A handler that wants to know its connection; told before the request is written. */
export interface ConnectionAware extends Dispatcher.DispatchHandler {
  connection: Connection | undefined;
}

// A subclass because undici's Pool asks its factory for a Client and calls `dispatch` on it.
class TrackedClient extends Client {
  readonly #connection: Connection;
  constructor(origin: URL, options: Client.Options, connection: Connection) {
    super(origin, options);
    this.#connection = connection;
  }
  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    if ('connection' in handler) handler.connection = this.#connection;
    return super.dispatch(options, handler);
  }
}

/** A client of its own for `origin`: the pool's unit, and the fresh connection of a retry. */
export function openClient(origin: string | URL, options: Client.Options): Client {
  let socket: Socket | undefined;
  const connection: Connection = { served: 0, bytesRead: () => socket?.bytesRead ?? 0 };
  const { connect } = options;
  const connector = typeof connect === 'function' ? connect : buildConnector(connect ?? {});
  const tracked: typeof connector = (target, callback) =>
    connector(target, (...args) => {
      if (args[1] !== null) {
        socket = args[1];
        connection.served = 0;
      }
      callback(...args);
    });
  return new TrackedClient(new URL(origin), { ...options, connect: tracked }, connection);
}

/** The factory for a pool of tracked connections. */
export const trackedFactory: NonNullable<Pool.Options['factory']> = (origin, options) =>
  openClient(origin, options);
