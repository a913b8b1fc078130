// A public listener: one server whose connections go to the fast plane first, and to Node's parsers and Fastify otherwise.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Server, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import Fastify from 'fastify';
import { callerIdOf } from '../upstream/targets/targets.ts';
import { createFastPlane } from './fast/fast-plane.ts';
import type { Forwarding } from './forwarding.ts';
import { createBareResponse } from './general/connection/bare-response.ts';
import { createConnections } from './general/connection/connections.ts';
import { createNodeServer } from './general/connection/node-server.ts';
import { createSessions } from './general/connection/sessions.ts';
import type { OpenRequest } from './general/request/open-request.ts';
import { createRequestLife } from './general/request/request-life.ts';
import type { Listener, ListenerOptions } from './port.ts';

export interface ProxyListenerOptions extends ListenerOptions, Forwarding {}

const CARRIED = { method: 'GET', url: '/', headers: Object.freeze({}), httpVersionMajor: 1, complete: true };

/**
 * The request as Fastify and reply-from see it. The gateway has parsed the target already, and they must not parse it again
 * (VER-7). Without fields, they copy none.
 */
class CarriedRequest {
  readonly open: OpenRequest;
  constructor(open: OpenRequest) {
    this.open = open;
  }
}
Object.assign(CarriedRequest.prototype, CARRIED);

/** Replaces Fastify's schema compilers, which take a tenth of the start time. */
function noSchemas(): never {
  throw new Error('no route has a schema');
}

const NO_TCP_SOCKET = 'the socket that was passed for a public listener is not a TCP socket';

export function createProxyListener(options: ProxyListenerOptions): Listener {
  const { tls, forwarder, websockets, limits, direct } = options;
  const { bounds, admits, report } = limits;
  const connections = createConnections();
  const sessions = createSessions(bounds, report);
  let state: 'open' | 'draining' | 'ending' = 'open';
  let closed = Promise.resolve();
  const scheme = tls === undefined ? 'http' : 'https';
  const ends = { isDraining: () => state !== 'open', isEnding: () => state === 'ending' };
  const life = createRequestLife({ ...options, ...ends, scheme, sessions });
  const fast =
    options.plane === 'fast' ? createFastPlane({ ...options, ...direct, ...ends, scheme }) : undefined;
  const server = createNodeServer({
    ...{ tls, bounds, admits, sessions },
    first(socket, toParsers) {
      const toGeneral = (): void => {
        report.connected('general', 1);
        socket.once('close', () => report.connected('general', -1));
        toParsers(socket);
        life.watch(socket);
      };
      const isHttp2 = 'alpnProtocol' in socket && socket.alpnProtocol === 'h2';
      if (fast === undefined || isHttp2) toGeneral();
      else
        fast.take(socket, {
          handOver: toGeneral,
          serve(message) {
            const connection = message as Duplex as Socket;
            toParsers(connection);
            life.watch(connection, message);
          },
        });
    },
  });
  const upgrade = (raw: IncomingMessage, socket: Socket, head: Buffer): void => {
    const { res, attach, detach } = createBareResponse(raw, socket);
    const open = life.begin(raw, res);
    if (open === undefined) return;
    open.attach = attach;
    const onSwitched = (): void => {
      detach();
      connections.release(socket);
      life.onSwitched(open);
    };
    void life.run(open, async (inbound, { forward: order }, facts) => {
      const refusal = limits.takeWebsocket(socket, callerIdOf(facts.decision, inbound));
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
        handle(new CarriedRequest(open) as unknown as IncomingMessage, res);
      };
      server.on('request', receive);
      // FWD-10: without these listeners Node would send 100 or 417 before the gateway decides.
      server.on('checkContinue', receive);
      server.on('checkExpectation', receive);
      // Without this listener Node would close the connection of an HTTP/1 CONNECT without a response.
      server.on('connect', (raw: IncomingMessage, second: Duplex | ServerResponse) => {
        if ('writeHead' in second) life.begin(raw, second);
        else life.refuseTunnel(raw);
      });
      server.on('upgrade', upgrade);
      server.on('connection', connections.track);
      const opened = tls === undefined ? 'connection' : 'secureConnection';
      server.on(opened, connections.trackSpeaker);
      server.on('session', connections.trackSession);
      return server;
    },
    clientErrorHandler: life.refuseUnparsed,
    logger: false,
    return503OnClosing: false,
    exposeHeadRoutes: false,
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
  });
  // The exchange runs in this hook and never calls `done`, so that Fastify parses no body and sends nothing (FWD-20).
  fastify.addHook('onRequest', (request, reply, _done) => {
    const { open } = request.raw as unknown as CarriedRequest;
    void life.run(open, (inbound, directive, facts) =>
      directive.kind === 'replay'
        ? forwarder.replay(inbound, directive, facts)
        : forwarder.forward(inbound, reply, directive.forward, facts),
    );
  });
  fastify.get('/', () => undefined);
  fastify.register(forwarder.plugin, forwarder.options);

  return {
    async listen() {
      await fastify.ready();
      const { host, port } = options.address;
      const at = { port, ...(host === undefined ? {} : { host }) };
      await new Promise<void>((resolve, reject) => {
        const fail = (error: Error): void => {
          const isPassed = options.socket !== undefined && Reflect.get(error, 'code') === 'EINVAL';
          // For a bound socket, the error of the system has no address.
          reject(isPassed ? new Error(NO_TCP_SOCKET) : Object.assign(error, { port, address: host }));
        };
        server.once('error', fail);
        server.listen(options.socket === undefined ? at : { fd: options.socket }, () => {
          server.off('error', fail);
          resolve();
        });
      });
      closed = new Promise((resolve) => void server.once('close', () => resolve()));
      const bound = server.address();
      if (typeof bound !== 'object' || bound === null) {
        // An open server would keep the process alive.
        server.close();
        throw new Error(NO_TCP_SOCKET);
      }
      return bound.port;
    },
    announceEnd() {
      state = 'draining';
      connections.announceEnd();
    },
    stopAccepting() {
      // `close` of an HTTP server would close idle connections too.
      Server.prototype.close.call(server);
    },
    async stop() {
      state = 'ending';
      // Otherwise WebSockets would stay open until their clients close them (WS-6).
      websockets.goAway();
      server.close();
      connections.endIdle({
        socket: (socket) => fast?.isBusy(socket) === true || life.isBusy(socket),
        session: sessions.isBusy,
      });
      fast?.endIdle();
      await closed;
      await fastify.close();
      life.stop();
      fast?.stop();
    },
    destroy: connections.destroyAll,
    connections: connections.size,
  };
}
