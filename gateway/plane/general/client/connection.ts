// One connection of a pool that knows what it has served and read, so that a stale one can be told apart.
// undici has no other place from which the socket behind a failed request can be seen.
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { type buildConnector, Client, type Dispatcher } from 'undici';
import type { MonotonicMs } from '../../../policy/contract.ts';
import { isRepeatable } from '../../../upstream/retry.ts';
import { passOverContinue } from './interim-answers.ts';

/** What is known of the connection a call runs on. */
export interface Connection {
  /** Answers completed on it; zero on a fresh connection. */
  readonly served: () => number;
  /** Whether several calls run on it at a time: then what was read says nothing of any one of them. */
  readonly isShared: () => boolean;
  /** Bytes read from the upstream so far. */
  readonly bytesRead: () => number;
  /** Call before a request is written. */
  readonly expectAnswer: () => void;
  /** Call when an answer is complete. */
  readonly answered: () => void;
}

/** A handler that wants to know its connection; told before the request is written. */
export interface ConnectionAware extends Dispatcher.DispatchHandler {
  connection: Connection | undefined;
}

/** How a request is given to a connection of one target. */
export type Dispatch = (
  request: Omit<Dispatcher.DispatchOptions, 'origin'>,
  handler: ConnectionAware,
) => void;

export interface ClientOptions extends Client.Options {
  readonly connect: buildConnector.connector;
  /** Monotonic milliseconds; default: those of the process. */
  readonly monotonic?: () => MonotonicMs;
}

/** Below the 5 s that many servers keep an idle connection, so that we let go first. */
export const IDLE_MS = 4_000;

// A subclass because undici's Pool asks its factory for a Client and calls `dispatch` on it.
class TrackedClient extends Client {
  readonly #connection: Connection;
  readonly #beforeUse: (asked: Dispatcher.DispatchOptions) => void;
  constructor(
    origin: URL,
    options: Client.Options,
    connection: Connection,
    beforeUse: (asked: Dispatcher.DispatchOptions) => void,
  ) {
    super(origin, options);
    this.#connection = connection;
    this.#beforeUse = beforeUse;
  }
  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    if ('connection' in handler) handler.connection = this.#connection;
    this.#beforeUse(options);
    return super.dispatch(options, handler);
  }
}

/** A client of its own for `origin`: the pool's unit, and the fresh connection of a retry. */
export function openClient(
  origin: string | URL,
  { monotonic = () => performance.now(), ...options }: ClientOptions,
): Client {
  let socket: Socket | undefined;
  let served = 0;
  /** Undefined while it has something to do. */
  let idleSince: number | undefined;
  let expectAnswer = (): void => undefined;
  const connection: Connection = {
    served: () => served,
    isShared: () => socket !== undefined && isHttp2(socket),
    bytesRead: () => socket?.bytesRead ?? 0,
    expectAnswer: () => {
      idleSince = undefined;
      expectAnswer();
    },
    answered: () => {
      served += 1;
      idleSince = monotonic();
    },
  };
  const tracked: buildConnector.connector = (target, callback) =>
    options.connect(target, (...args) => {
      if (args[0] === null) {
        socket = args[1];
        served = 0;
        idleSince = undefined;
        expectAnswer = isHttp2(socket) ? () => undefined : passOverContinue(socket);
      }
      callback(...args);
    });
  // undici's clock counts its ticks, and is slow where the event loop is. What may not be sent twice is not risked on a
  // connection that the upstream may have ended meanwhile: undici makes another in its place.
  const letGoOfOld = ({ method, body }: Dispatcher.DispatchOptions): void => {
    const isOld = idleSince !== undefined && monotonic() - idleSince > IDLE_MS;
    if (isOld && !connection.isShared() && !isRepeatable(method, body != null)) socket?.destroy();
  };
  return new TrackedClient(new URL(origin), { ...options, connect: tracked }, connection, letGoOfOld);
}

/** Node says so of a TLS connection, undici of one without TLS on which it presupposes HTTP/2. */
function isHttp2(socket: Socket): boolean {
  return 'alpnProtocol' in socket && (socket as TLSSocket).alpnProtocol === 'h2';
}
