// The Node server under a public listener: plain HTTP/1, or TLS with HTTP/2 and HTTP/1 by ALPN.
import { createServer, type Server, type ServerOptions } from 'node:http';
import { createSecureServer } from 'node:http2';
import type { Socket } from 'node:net';
import type { Server as TlsServer } from 'node:tls';
import type { Bounds } from '../../../plan/bounds.ts';
import type { ListenerLimits, TlsTermination } from '../../port.ts';
import { mayUpgrade } from './handshake.ts';
import type { Http2Sessions } from './sessions.ts';

export interface NodeServerOptions extends Pick<ListenerLimits, 'bounds' | 'admits'> {
  /** Undefined makes a plain server. */
  readonly tls: TlsTermination | undefined;
  readonly sessions: Pick<Http2Sessions, 'watch'>;
  /** Gets each connection that is open before Node's parsers do; `toParsers` gives them one. */
  readonly first: SocketHandler;
}

type SocketHandler = (socket: Socket, toParsers: (socket: Socket) => void) => void;

/** The longest that a passed deadline goes unnoticed, milliseconds. */
const SLOWEST_CHECK_MS = 500;

/** The result has the surface of `http.Server` either way. */
export function createNodeServer({ tls, bounds, admits, sessions, first }: NodeServerOptions): Server {
  const options: ServerOptions = {
    insecureHTTPParser: false,
    // Node's own 400 for a missing Host would neither be ours nor stop a pipelined request behind it.
    requireHostHeader: false,
    maxHeaderSize: parserRoom(bounds),
    connectionsCheckingInterval: Math.max(20, Math.min(SLOWEST_CHECK_MS, Math.floor(bounds.headersMs / 8))),
    noDelay: true,
  };
  const server = tls === undefined ? createServer(options) : secureServer(tls, options, bounds, sessions);
  const opened = tls === undefined ? 'connection' : 'secureConnection';
  const toParsers = takeListeners(server, opened);
  // Certificates of both sides are known before the first read.
  tls?.attach(server as Server & TlsServer);
  server.on(opened, (socket: Socket) => first(socket, toParsers));
  server.headersTimeout = bounds.headersMs;
  server.requestTimeout = Math.max(bounds.requestMs, bounds.headersMs);
  server.keepAliveTimeout = bounds.idleMs;
  // Zero: no field is dropped silently; strictness.ts counts them instead.
  server.maxHeadersCount = 0;
  // An option of the plain server only; both ask the property. Everything else that wants an upgrade stays a request (WS-1).
  Object.assign(server, { shouldUpgradeCallback: mayUpgrade });
  // Before all of it, so that a refused connection costs no parser and no handshake.
  const toOpen = takeListeners(server, 'connection');
  server.on('connection', (socket: Socket) => {
    if (admits(socket)) toOpen(socket);
    else socket.destroy();
  });
  return server;
}

/**
 * Octets of a head that the parser takes. It counts target and fields together, so a tight bound could not tell 414 from 431:
 * with room for both, strictness.ts judges each.
 */
function parserRoom({ headerBytes, targetBytes }: Bounds): number {
  return 2 * headerBytes + 3 * targetBytes;
}

/** Takes Node's own listeners away; the result calls them. */
function takeListeners(server: Server, event: 'connection' | 'secureConnection'): (socket: Socket) => void {
  const takers = server.listeners(event);
  server.removeAllListeners(event);
  return (socket) => {
    for (const take of takers) take.call(server, socket);
  };
}

function secureServer(
  tls: TlsTermination,
  options: ServerOptions,
  bounds: Bounds,
  sessions: NodeServerOptions['sessions'],
): Server {
  const server = createSecureServer({
    ...tls.options,
    ...options,
    allowHTTP1: true,
    handshakeTimeout: bounds.headersMs,
    maxSessionInvalidFrames: 50,
    // H2-3: a field whose name is no token, or whose value has a control character, is left out by nghttp2, and nothing in
    // JavaScript tells of it: Http2Session::OnInvalidHeader of node_http2.cc returns 0, OnNghttpError passes on no error but
    // NGHTTP2_ERR_SETTINGS_EXPECTED. It counts as never sent. What frames or routes a request resets the stream instead.
    // Without this option a field with a blank at an end goes the same way; strictness.ts refuses it.
    strictFieldWhitespaceValidation: false,
    // Above what strictness.ts allows, so that it is the one to answer.
    maxHeaderListPairs: 2 * bounds.headerFields,
    settings: {
      maxConcurrentStreams: bounds.streams,
      maxHeaderListSize: bounds.headerBytes + bounds.targetBytes,
      enablePush: false,
    },
    // The library's own bound, which says INTERNAL_ERROR, must not come before ours.
    ...{ streamResetBurst: 2 * bounds.resets.units, streamResetRate: 2 * bounds.resets.units },
  });
  server.on('session', sessions.watch);
  // With allowHTTP1 it carries the timers and emits the events of http.Server; Node's types do not say so.
  return server as unknown as Server;
}
