// One connection of a pool that knows what it has served and read, so that a stale one can be told apart.
// undici has no other place from which the socket behind a failed request can be seen.
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { type buildConnector, Client, type Dispatcher } from 'undici';
import { passOverContinue } from './interim-answers.ts';

/** What is known of the connection a call runs on. */
export interface Connection {
  /** Answers completed on it; zero on a fresh connection. */
  served: number;
  /** Whether several calls run on it at a time: then what was read says nothing of any one of them. */
  readonly isShared: () => boolean;
  /** Bytes read from the upstream so far. */
  readonly bytesRead: () => number;
  /** Call before a request is written. */
  readonly expectAnswer: () => void;
}

/** A handler that wants to know its connection; told before the request is written. */
export interface ConnectionAware extends Dispatcher.DispatchHandler {
  connection: Connection | undefined;
}

export interface ClientOptions extends Client.Options {
  readonly connect: buildConnector.connector;
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
export function openClient(origin: string | URL, options: ClientOptions): Client {
  let socket: Socket | undefined;
  let expectAnswer = (): void => undefined;
  const connection: Connection = {
    served: 0,
    isShared: () => socket !== undefined && isHttp2(socket),
    bytesRead: () => socket?.bytesRead ?? 0,
    expectAnswer: () => expectAnswer(),
  };
  const tracked: buildConnector.connector = (target, callback) =>
    options.connect(target, (...args) => {
      if (args[0] === null) {
        socket = args[1];
        connection.served = 0;
        expectAnswer = isHttp2(socket) ? () => undefined : passOverContinue(socket);
      }
      callback(...args);
    });
  return new TrackedClient(new URL(origin), { ...options, connect: tracked }, connection);
}

/** Node says so of a TLS connection, undici of one without TLS on which it presupposes HTTP/2. */
function isHttp2(socket: Socket): boolean {
  return 'alpnProtocol' in socket && (socket as TLSSocket).alpnProtocol === 'h2';
}
