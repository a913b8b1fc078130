// All connections to one target: undici's pool for requests, an agent for WebSocket handshakes.
import type { Agent } from 'node:http';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { type buildConnector, Client, type Dispatcher, Pool } from 'undici';
import type { UpstreamPlan } from '../../../plan/plan.ts';
import type { MonotonicMs } from '../../../policy/contract.ts';
import type { TargetConnections, TargetPorts } from '../../../upstream/call.ts';
import { errorCode } from '../../../upstream/fault-mapping.ts';
import { isRepeatable } from '../../../upstream/retry.ts';
import { createTargetConnector, passOverContinue } from './connector.ts';
import { createProbe } from './health-probe.ts';
import { type Connection, callTarget, type Dispatch } from './upstream-call.ts';

export interface HttpConnections extends TargetConnections {
  readonly origin: string;
  readonly agent: Agent;
}

export function connectTarget(
  origin: string,
  upstream: UpstreamPlan,
  { names, ca }: Pick<TargetPorts, 'names' | 'ca'>,
): HttpConnections {
  const sockets = new Set<Socket>();
  const onSocket = (socket: Socket): void => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  };
  const reach = createTargetConnector(origin, upstream, { names, onSocket, ca });
  const options: ClientOptions = {
    connect: reach.connect,
    allowH2: upstream.http2,
    pipelining: 1,
    keepAliveTimeout: IDLE_MS,
    keepAliveMaxTimeout: 60_000,
    keepAliveTimeoutThreshold: 1_000,
  };
  const openPool = (): Pool => {
    const made = new Pool(origin, {
      ...options,
      connections: upstream.connections.max,
      factory: (url) => openClient(url, options),
    });
    // Without a listener, undici's error events would end the process. Each request gets its error anyway.
    made.on('connectionError', () => undefined);
    return made;
  };
  let pool = openPool();
  let retired = false;
  const dispatchFresh: Dispatch = (request, handler) => {
    const fresh = openClient(origin, options);
    fresh.dispatch({ ...request, origin }, handler);
    fresh.close(() => undefined);
  };
  const dispatch: Dispatch = (request, handler) => {
    // A reload removed the target while the request was queued.
    if (retired) dispatchFresh(request, handler);
    else pool.dispatch({ ...request, origin }, handler);
  };
  return {
    origin,
    agent: reach.agent,
    call: (request) => callTarget(request, request.fresh ? dispatchFresh : dispatch),
    probe: createProbe(dispatchFresh),
    follow(addresses) {
      if ([...sockets].every(({ remoteAddress = '' }) => addresses.has(remoteAddress))) return;
      const before = pool;
      pool = openPool();
      before.close(() => undefined);
    },
    retire() {
      retired = true;
      pool.close(() => undefined);
    },
    destroy: () => pool.destroy(),
  };
}

export interface ClientOptions extends Client.Options {
  readonly connect: buildConnector.connector;
  /** Monotonic milliseconds. Default: the clock of the process. */
  readonly monotonic?: () => MonotonicMs;
}

/** Milliseconds. Many servers close an idle connection after 5 s, so the gateway closes it first. */
export const IDLE_MS = 4_000;

/** A client with one connection: a unit of the pool, or the new connection of a retry. */
export function openClient(
  origin: string | URL,
  { monotonic = () => performance.now(), ...options }: ClientOptions,
): Client {
  let socket: Socket | undefined;
  let served = 0;
  /** Monotonic milliseconds. Undefined during a request. */
  let idleSince: number | undefined;
  let expectAnswer = (): void => undefined;
  const connection: Connection = {
    served: () => served,
    isShared: () => socket !== undefined && isHttp2(socket),
    bytesRead: () => socket?.bytesRead ?? 0,
    isBroken: () => socket?.errored != null,
    expectAnswer: () => {
      idleSince = undefined;
      expectAnswer();
    },
    answered: () => {
      served += 1;
      idleSince = monotonic();
    },
  };
  /** Runs before undici's own listener. */
  const onError = (failed: Socket, error: Error): void => {
    // FWD-16: undici fails a request that waits for an idle connection with the error of that connection. It
    // sends the request on a new connection only for its own error codes.
    if (idleSince !== undefined && !errorCode(error)?.startsWith('UND_'))
      Object.assign(error, { code: 'UND_ERR_SOCKET' });
    // Node keeps a TLS connection open on which octets other than TLS arrived.
    failed.destroy(error);
  };
  const tracked: buildConnector.connector = (target, callback) =>
    options.connect(target, (...args) => {
      if (args[0] === null) {
        socket = args[1];
        served = 0;
        idleSince = undefined;
        expectAnswer = isHttp2(socket) ? () => undefined : passOverContinue(socket);
        if (!isHttp2(socket)) socket.on('error', onError.bind(undefined, socket));
      }
      callback(...args);
    });
  // undici's clock counts ticks, so it is late if the event loop is. A request that must not be sent twice
  // does not use a connection that the upstream may have closed in the meantime. undici opens a new one.
  const closeOld = ({ method, body }: Dispatcher.DispatchOptions): void => {
    const isOld = idleSince !== undefined && monotonic() - idleSince > IDLE_MS;
    if (isOld && !connection.isShared() && !isRepeatable(method, body != null)) socket?.destroy();
  };
  const client = new Client(new URL(origin), { ...options, connect: tracked });
  const dispatch = client.dispatch.bind(client);
  client.dispatch = (request, handler) => {
    if ('connection' in handler) handler.connection = connection;
    closeOld(request);
    return dispatch(request, handler);
  };
  return client;
}

/** Node sets the field for TLS. The connector sets it for HTTP/2 without TLS. */
function isHttp2(socket: Socket): boolean {
  return 'alpnProtocol' in socket && (socket as TLSSocket).alpnProtocol === 'h2';
}
