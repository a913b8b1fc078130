// A public listener: Node's server, Fastify for reply-from's sake, and the life of each request between them.
// Nothing here decides anything about an API.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import Fastify from 'fastify';
import type { Exchange, Observer } from '../exchange/exchange.ts';
import { METHODS } from '../exchange/request-view.ts';
import { callerOf } from '../forward/caller.ts';
import type { Forwarder } from '../forward/forwarder.ts';
import type { Websockets } from '../forward/websocket.ts';
import type { Address, PlainMode } from '../plan/settings.ts';
import { createBareResponse } from './bare-response.ts';
import { createConnections } from './connections.ts';
import type { Drainable } from './drain.ts';
import type { Intake } from './intake.ts';
import { createNodeServer } from './node-server.ts';
import type { OpenRequest } from './open-request.ts';
import { createRequestLife } from './request-life.ts';
import { createSessions } from './sessions.ts';
import { type CertificateSource, createTlsFace } from './tls-options.ts';

export interface ProxyListener extends Drainable {
  /** Starts accepting; resolves with the port, which matters when the address said 0. */
  readonly listen: () => Promise<number>;
  /** Open client connections. */
  readonly connections: () => number;
}

export interface ProxyListenerOptions {
  readonly address: Address;
  /** Descriptor of a socket that is bound already, and shared; undefined: it binds one of its own. */
  readonly socket?: number | undefined;
  /** Present: TLS. Absent: plain HTTP. */
  readonly certificates?: CertificateSource;
  /** Other than `serve` for the plain listener only (TLS-5). */
  readonly mode: PlainMode;
  /** Whether upstreams get `Forwarded` besides X-Forwarded-* (XFF-3). */
  readonly sendsForwarded: boolean;
  readonly exchange: Exchange;
  readonly observer: Observer;
  readonly forwarder: Forwarder;
  readonly websockets: Websockets;
  /** Shared by all public listeners. */
  readonly intake: Intake;
  /** The real clock, for the Date of answers that Node does not write and the ends of client certificates. */
  readonly now: () => number;
}

const OPEN = Symbol('open');
type Carrying = IncomingMessage & { [OPEN]?: OpenRequest };

/** Instead of Fastify's own compilers, which take a tenth of the time to start and have nothing to compile. */
function noSchemas(): never {
  throw new Error('no route has a schema');
}

export function createProxyListener(options: ProxyListenerOptions): ProxyListener {
  const { certificates, forwarder, websockets, intake } = options;
  const { bounds, admission, report } = intake;
  const connections = createConnections();
  const sessions = createSessions(bounds, report);
  let draining = false;
  const life = createRequestLife({
    ...options,
    scheme: certificates === undefined ? 'http' : 'https',
    connections,
    sessions,
    isDraining: () => draining,
  });
  const tls = certificates === undefined ? undefined : createTlsFace(certificates, options.now);
  const server = createNodeServer({ tls, bounds, admits: admission.admits, sessions });
  const upgrade = (raw: IncomingMessage, socket: Socket, head: Buffer): void => {
    const { res, attach, detach } = createBareResponse(raw, socket);
    const open = life.begin(raw, res);
    if (open === undefined) return;
    open.onTurn = attach;
    const onSwitched = (): void => {
      detach();
      connections.release(socket);
      life.onSwitched(open);
    };
    void life.run(open, async (inbound, { forward: order }, facts) => {
      const refusal = intake.switches.take(socket, callerOf(facts.decision, inbound));
      if (refusal === undefined)
        await websockets.forward(inbound, { socket, head, onSwitched }, order, facts);
      return refusal;
    });
  };
  const fastify = Fastify({
    serverFactory(handle) {
      const receive = (raw: IncomingMessage, res: ServerResponse): void => {
        const open = life.begin(raw, res);
        if (open === undefined || open.answered) return;
        (raw as Carrying)[OPEN] = open;
        handle(raw, res);
      };
      server.on('request', receive);
      // FWD-10: without these listeners Node would send 100, or 417, before anything was decided.
      server.on('checkContinue', receive);
      server.on('checkExpectation', receive);
      // Without this one it would end the connection of an HTTP/1 CONNECT without a word; HTTP/2 has a response here.
      server.on('connect', (raw: IncomingMessage, second: Duplex | ServerResponse) => {
        if ('writeHead' in second) life.begin(raw, second);
        else life.refuseTunnel(raw);
      });
      server.on('upgrade', upgrade);
      server.on('connection', connections.track);
      server.on(certificates === undefined ? 'connection' : 'secureConnection', connections.trackSpeaker);
      server.on('session', connections.trackSession);
      return server;
    },
    clientErrorHandler: life.refuseUnparsed,
    logger: false,
    return503OnClosing: false,
    exposeHeadRoutes: false,
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
    // The target was read before; Fastify's router must not read it again (VER-7).
    rewriteUrl: () => '/',
  });
  // The exchange runs in this hook and never calls `done`: no body is parsed and Fastify sends nothing (FWD-20).
  fastify.addHook('onRequest', (request, reply, _done) => {
    const open = (request.raw as Carrying)[OPEN];
    if (open === undefined) return;
    void life.run(open, (inbound, directive, facts) =>
      directive.kind === 'replay'
        ? forwarder.replay(inbound, directive, facts)
        : forwarder.forward(inbound, reply, directive.forward, facts),
    );
  });
  fastify.route({ method: [...METHODS], url: '/', handler: () => undefined });
  fastify.register(forwarder.plugin, forwarder.options);

  return {
    async listen() {
      await fastify.ready();
      const { host, port } = options.address;
      const at = { port, ...(host === undefined ? {} : { host }) };
      await new Promise<void>((resolve, reject) => {
        // Of a socket that is bound already the system's error does not say where.
        const fail = (error: Error): void => reject(Object.assign(error, { port, address: host }));
        server.once('error', fail);
        server.listen(options.socket === undefined ? at : { fd: options.socket }, () => {
          server.off('error', fail);
          resolve();
        });
      });
      const bound = server.address();
      return typeof bound === 'object' && bound !== null ? bound.port : port;
    },
    announceEnd() {
      draining = true;
      connections.announceEnd();
    },
    async stop() {
      draining = true;
      // They would keep their connections for as long as they like (WS-6).
      websockets.goAway();
      const closed = new Promise<void>((resolve) => void server.close(() => resolve()));
      connections.endIdle({ socket: life.isBusy, session: sessions.isBusy });
      await closed;
      await fastify.close();
      life.stop();
    },
    destroy: connections.destroyAll,
    connections: connections.size,
  };
}
