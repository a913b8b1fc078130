// The Node server under a public listener: HTTP/1.1, or TLS with HTTP/2 and HTTP/1.1 by ALPN.
import { createServer, type Server, type ServerOptions } from 'node:http';
import { createSecureServer } from 'node:http2';
import type { Socket } from 'node:net';
import type { Server as TlsServer } from 'node:tls';
import type { Bounds } from '../../../plan/bounds.ts';
import type { ListenerLimits, TlsTermination } from '../../port.ts';
import { mayUpgrade } from './handshake.ts';
import type { Http2Sessions } from './sessions.ts';

export interface NodeServerOptions extends Pick<ListenerLimits, 'bounds' | 'admits'> {
  readonly tls: TlsTermination | undefined;
  readonly sessions: Pick<Http2Sessions, 'watch'>;
  /** Gets each open connection before Node's parsers. `toParsers` passes it to them. */
  readonly first: SocketHandler;
}

type SocketHandler = (socket: Socket, toParsers: (socket: Socket) => void) => void;

/** Milliseconds: the maximum delay after a deadline. */
const SLOWEST_CHECK_MS = 500;

/** With TLS too, the result has the interface of `http.Server`. */
export function createNodeServer({ tls, bounds, admits, sessions, first }: NodeServerOptions): Server {
  const options: ServerOptions = {
    insecureHTTPParser: false,
    // Node's own 400 for a missing Host would not be ours, and would not stop a pipelined request after it.
    requireHostHeader: false,
    maxHeaderSize: parserRoom(bounds),
    connectionsCheckingInterval: Math.max(20, Math.min(SLOWEST_CHECK_MS, Math.floor(bounds.headersMs / 8))),
    noDelay: true,
  };
  const server = tls === undefined ? createServer(options) : secureServer(tls, options, bounds, sessions);
  const opened = tls === undefined ? 'connection' : 'secureConnection';
  const toParsers = takeListeners(server, opened);
  // Runs before the first read, because certificates of both sides are known by then.
  tls?.attach(server as Server & TlsServer);
  server.on(opened, (socket: Socket) => first(socket, toParsers));
  server.headersTimeout = bounds.headersMs;
  server.requestTimeout = Math.max(bounds.requestMs, bounds.headersMs);
  server.keepAliveTimeout = bounds.idleMs;
  // Zero: Node drops no field silently. `strictness.ts` counts fields.
  server.maxHeadersCount = 0;
  // An option only of the plain server, but both servers read the property. Other upgrades stay requests (WS-1).
  Object.assign(server, { shouldUpgradeCallback: mayUpgrade });
  // Runs first, so that a refused connection costs no parser and no handshake.
  const toOpen = takeListeners(server, 'connection');
  server.on('connection', (socket: Socket) => {
    if (admits(socket)) toOpen(socket);
    else socket.destroy();
  });
  return server;
}

/**
 * Octets of a head that the parser accepts. It counts target and fields together, so a tight bound could not
 * tell 414 from 431. With room for both, `strictness.ts` checks each.
 */
function parserRoom({ headerBytes, targetBytes }: Bounds): number {
  return 2 * headerBytes + 3 * targetBytes;
}

/** Removes Node's own listeners. The result calls them. */
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
    // H2-3: nghttp2 drops a field if its name is not a token or its value has a control character. JavaScript gets no
    // event: Http2Session::OnInvalidHeader of node_http2.cc returns 0, and OnNghttpError reports only
    // NGHTTP2_ERR_SETTINGS_EXPECTED. An invalid field that frames or routes a request resets the stream instead.
    // Without this option, a field with whitespace at either end is dropped too. `strictness.ts` refuses it.
    strictFieldWhitespaceValidation: false,
    // Above the bound of `strictness.ts`, so that `strictness.ts` refuses.
    maxHeaderListPairs: 2 * bounds.headerFields,
    settings: {
      maxConcurrentStreams: bounds.streams,
      maxHeaderListSize: bounds.headerBytes + bounds.targetBytes,
      enablePush: false,
    },
    // The library's own bound, which answers INTERNAL_ERROR, must not apply before ours.
    ...{ streamResetBurst: 2 * bounds.resets.units, streamResetRate: 2 * bounds.resets.units },
  });
  server.on('session', sessions.watch);
  // With `allowHTTP1` it has the timers and events of http.Server. Node's types do not show this.
  return server as unknown as Server;
}
