// Forwards one decided WebSocket handshake through http-proxy-3, and the bytes of both sides once the upstream has switched.
// Called by server/ for a `forward` directive of an upgrade; plain requests go through forwarder.ts.
import { type ClientRequest, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { createProxyServer, type ServerOptions } from 'http-proxy-3';
import type { AnswerHeaders } from '../exchange/answer-headers.ts';
import { Fault, type ForwardOrder } from '../exchange/directive.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { ExchangeFacts } from '../exchange/facts.ts';
import { holdService } from '../exchange/held-service.ts';
import { createClientEnd } from './client-end.ts';
import { toFault } from './fault-mapping.ts';
import type { Inbound } from './inbound.ts';
import { createOpenTunnels, type OpenTunnels } from './open-tunnels.ts';
import type { Pools } from './pools.ts';
import { relayAnswer } from './relayed-answer.ts';
import { upstreamHeaders } from './request-headers.ts';
import { switchedHead } from './switched-head.ts';
import { openTunnel } from './tunnel.ts';
import { MOST_TIMES_HERE, timesHere } from './via.ts';

/** A connection that Node's server has handed over. */
export interface Handover {
  readonly socket: Socket;
  /** What came behind the handshake. */
  readonly head: Buffer;
  /** The connection is a WebSocket now, and its 101 is written. */
  readonly onSwitched: () => void;
}

export interface Websockets extends Pick<OpenTunnels, 'goAway' | 'services'> {
  /**
   * Resolves when the connection has become a WebSocket, when another answer has been handed over, or when the client has
   * left. Rejects with a `Fault` while nothing has been written.
   */
  readonly forward: (
    inbound: Inbound,
    handover: Handover,
    order: ForwardOrder,
    facts: ExchangeFacts,
  ) => Promise<void>;
}

export interface WebsocketPorts {
  readonly exchange: Pick<Exchange, 'decorate' | 'isOver'>;
  readonly pools: Pick<Pools, 'route'>;
  /** PEM bundle of additional trust, for upstreams with a private authority. */
  readonly ca?: string | undefined;
}

export function createWebsockets({ exchange, pools, ca }: WebsocketPorts): Websockets {
  const tunnels = createOpenTunnels(exchange.isOver);

  function forward(
    inbound: Inbound,
    handover: Handover,
    order: ForwardOrder,
    facts: ExchangeFacts,
  ): Promise<void> {
    const { raw, view } = inbound;
    const { socket: client } = handover;
    const { name: service, timeouts } = order.upstream;
    if (timesHere(raw.headers.via) > MOST_TIMES_HERE)
      return Promise.reject(new Fault('upstream_loop', { service }));
    // Nobody listened for its end while it was judged, and the end is not told twice.
    if (client.readableEnded) {
      client.destroy();
      return Promise.resolve();
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const route = pools.route(order.upstream);
    const target = new URL(route.origin);
    route.dispatched();
    const sentAt = performance.now();
    const end = createClientEnd(client);
    const onEarlyEnd = (): void => void client.destroy();
    let call: ClientRequest | undefined;
    let over = false;
    let limit = limited('upstream_connect_timeout', timeouts.connect);

    function limited(code: 'upstream_connect_timeout' | 'upstream_headers_timeout', timeoutMs: number) {
      return setTimeout(() => fail(new Fault(code, { service, timeoutMs })), timeoutMs);
    }
    /** From here on nothing more is decided by this call. */
    function settle(): void {
      over = true;
      clearTimeout(limit);
      inbound.onGone = undefined;
    }
    function fail(cause: unknown): void {
      if (over) return;
      settle();
      end.destroy();
      call?.destroy();
      reject(toFault(cause, order));
    }
    const decorate = (headers: AnswerHeaders): void => exchange.decorate(headers, facts, view);

    function onUpgrade(answer: IncomingMessage, upstream: Socket): void {
      upstream.on('error', () => undefined);
      try {
        if (over) throw new Error('the client left');
        switchedHead(answer, { key: raw.headers['sec-websocket-key'], service }, decorate);
      } catch (cause) {
        // WS-3: what http-proxy-3 writes now ends at the destroyed stand-in.
        upstream.destroy();
        fail(cause);
        return;
      }
      settle();
      facts.upstreamMs = performance.now() - sentAt;
      client.off('end', onEarlyEnd);
      const ends = { client, end, upstream, stalledAfterMs: timeouts.idle };
      // When http-proxy-3 has written the head, set up both connections and begun to copy.
      proxy.once('open', () => {
        tunnels.add(holdService(facts), (onClosed) => openTunnel(ends, onClosed));
        handover.onSwitched();
        resolve();
      });
    }

    function onResponse(answer: IncomingMessage): void {
      // Destroyed, it is passed over by http-proxy-3, which would write neither whole nor safely.
      end.destroy();
      if (over) return;
      settle();
      facts.upstreamMs = performance.now() - sentAt;
      relayAnswer(answer, inbound, order, facts, decorate).then(resolve, (cause: unknown) => {
        answer.destroy();
        reject(toFault(cause, order));
      });
    }

    client.once('end', onEarlyEnd);
    inbound.onGone = () => fail(new Error('the client left'));
    const proxy = createProxyServer();
    // Without a listener it throws.
    proxy.on('error', fail);
    proxy.once('proxyReqWs', (request) => {
      call = request;
      // http-proxy-3 has read it through a URL parser; the bytes that were judged are what is sent (ORD-2).
      request.path = order.target;
      request.once('socket', (socket) => {
        socket.once(target.protocol === 'https:' ? 'secureConnect' : 'connect', () => {
          if (over) return;
          clearTimeout(limit);
          limit = limited('upstream_headers_timeout', timeouts.headers);
        });
      });
      // Before those of http-proxy-3, which are added after this event.
      request.once('upgrade', onUpgrade);
      request.once('response', onResponse);
    });
    const options: ServerOptions = {
      target,
      secure: true,
      prependPath: false,
      ...(ca === undefined ? {} : { ca }),
    };
    try {
      proxy.ws(handshakeFor(inbound, order, target), end, handover.head, options, fail);
    } catch (cause) {
      fail(cause);
    }
    return promise;
  }

  return { forward, goAway: tunnels.goAway, services: tunnels.services };
}

/** The request as http-proxy-3 sends it on: the header section of any forwarded request, and the upgrade of this hop (WS-3). */
function handshakeFor(inbound: Inbound, order: ForwardOrder, { host }: URL): IncomingMessage {
  const headers = new Map<string, string | string[]>([['host', host]]);
  const flat = upstreamHeaders(inbound, order);
  for (let index = 0; index < flat.length; index += 2) {
    const name = (flat[index] ?? '').toLowerCase();
    const value = flat[index + 1] ?? '';
    const before = headers.get(name);
    headers.set(name, before === undefined ? value : [before, value].flat());
  }
  const asked = new IncomingMessage(inbound.raw.socket);
  asked.method = 'GET';
  asked.url = '/';
  asked.httpVersionMajor = 1;
  asked.headers = { ...Object.fromEntries(headers), connection: 'Upgrade', upgrade: 'websocket' };
  return asked;
}
