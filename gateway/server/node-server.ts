// The Node server under a public listener: plain HTTP/1, or TLS with HTTP/2 and HTTP/1 by ALPN.
// Its limits bound what a slow or hostile client can hold (SMG-24, H2-6).
import { createServer, type Server, type ServerOptions } from 'node:http';
import { createSecureServer, type ServerHttp2Session } from 'node:http2';
import type { TlsOptions } from 'node:tls';
import { mayUpgrade } from './handshake.ts';
import { MOST_FIELDS, MOST_HEADER_BYTES } from './strictness.ts';

export interface ListenerLimits {
  /** Milliseconds for the whole header section. */
  readonly headersMs: number;
  /** Milliseconds for the whole request, body included. */
  readonly requestMs: number;
  /** Milliseconds an idle connection is kept. */
  readonly idleMs: number;
  /** How often the two deadlines are looked at, milliseconds. */
  readonly checkEveryMs: number;
}

export const DEFAULT_LIMITS: ListenerLimits = {
  headersMs: 10_000,
  requestMs: 300_000,
  idleMs: 65_000,
  checkEveryMs: 1_000,
};

/** `tls` undefined makes a plain server. The result has the surface of `http.Server` either way. */
export function createNodeServer(tls: TlsOptions | undefined, limits: ListenerLimits): Server {
  const options: ServerOptions = {
    insecureHTTPParser: false,
    // Node's own 400 for a missing Host would neither be ours nor stop a pipelined request behind it.
    requireHostHeader: false,
    maxHeaderSize: MOST_HEADER_BYTES,
    headersTimeout: limits.headersMs,
    requestTimeout: limits.requestMs,
    connectionsCheckingInterval: limits.checkEveryMs,
    keepAliveTimeout: limits.idleMs,
    noDelay: true,
  };
  const server = tls === undefined ? createServer(options) : secureServer(tls, options, limits);
  server.headersTimeout = limits.headersMs;
  server.requestTimeout = limits.requestMs;
  server.keepAliveTimeout = limits.idleMs;
  // Zero: no field is dropped silently; strictness.ts counts them instead.
  server.maxHeadersCount = 0;
  // An option of the plain server only; both ask the property. Everything else that wants an upgrade stays a request (WS-1).
  Object.assign(server, { shouldUpgradeCallback: mayUpgrade });
  return server;
}

function secureServer(tls: TlsOptions, options: ServerOptions, limits: ListenerLimits): Server {
  const server = createSecureServer({
    ...tls,
    ...options,
    allowHTTP1: true,
    handshakeTimeout: limits.headersMs,
    maxSessionInvalidFrames: 50,
    // Above what strictness.ts allows, so that it is the one to answer.
    maxHeaderListPairs: 2 * MOST_FIELDS,
    settings: { maxConcurrentStreams: 128, maxHeaderListSize: MOST_HEADER_BYTES, enablePush: false },
  });
  server.on('session', (session) => closeWhenIdle(session, limits.idleMs));
  // With allowHTTP1 it carries the timers and emits the events of http.Server; Node's types do not say so.
  return server as unknown as Server;
}

/**
 * Idle is a connection without a request, whatever else comes on it: pings, settings, or a header section octet by octet
 * keep Node's own time-out from passing.
 */
function closeWhenIdle(session: ServerHttp2Session, idleMs: number): void {
  let open = 0;
  const idle = setTimeout(() => {
    // Tells the client by GOAWAY which streams were seen, and does not wait for a half-received header section.
    if (open === 0) session.destroy();
  }, idleMs);
  session.on('stream', (stream) => {
    open += 1;
    stream.once('close', () => {
      open -= 1;
      if (open === 0) idle.refresh();
    });
  });
  session.once('close', () => clearTimeout(idle));
}
