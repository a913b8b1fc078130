// All connections to one target: undici's pool for requests, an agent for the handshakes of WebSockets.
// Opened and let go of by upstream/pools.ts.
import type { Agent } from 'node:http';
import type { Socket } from 'node:net';
import { Pool } from 'undici';
import type { UpstreamPlan } from '../../../plan/plan.ts';
import type { TargetConnections } from '../../../upstream/call.ts';
import type { NameLookup } from '../../../upstream/name-lookup.ts';
import { type ClientOptions, type Dispatch, IDLE_MS, openClient } from './connection.ts';
import { createReach } from './connector.ts';
import { createProbe } from './health-probe.ts';
import { callTarget } from './upstream-call.ts';

export interface HttpConnections extends TargetConnections {
  readonly origin: string;
  /** For a connection that becomes a WebSocket. */
  readonly agent: Agent;
}

/** `ca`: PEM bundle for upstreams that name no authority of their own; default: Node's. */
export function connectTarget(
  origin: string,
  upstream: UpstreamPlan,
  names: NameLookup,
  ca?: string,
): HttpConnections {
  const sockets = new Set<Socket>();
  const onSocket = (socket: Socket): void => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  };
  const reach = createReach(origin, upstream, { names, onSocket, ca });
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
    // Without a listener undici's own error events would end the process; each request gets its error anyway.
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
    // It waited for its place while the plan that wanted this target was replaced.
    if (retired) dispatchFresh(request, handler);
    else pool.dispatch({ ...request, origin }, handler);
  };
  return {
    origin,
    agent: reach.agent,
    call: (asked) => callTarget(asked, asked.fresh ? dispatchFresh : dispatch),
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
