// One WebSocket handshake with one target, through http-proxy-3: asked, judged, and handed over once the target has switched.
// Run by websocket.ts, which decides what becomes of a failure.
import { type ClientRequest, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { createProxyServer } from 'http-proxy-3';
import type { AnswerHeaders } from '../exchange/answer-headers.ts';
import { Fault, type ForwardOrder } from '../exchange/directive.ts';
import { createClientEnd } from './client-end.ts';
import type { Inbound } from './inbound.ts';
import type { Route } from './pools.ts';
import { upstreamHeaders } from './request-headers.ts';
import { switchedHead } from './switched-head.ts';

export interface HandshakeOptions {
  readonly inbound: Inbound;
  readonly client: Socket;
  /** What came behind the client's handshake. */
  readonly head: Buffer;
  readonly order: ForwardOrder;
  readonly route: Route;
  /** Edits the head of the 101. */
  readonly decorate: (headers: AnswerHeaders) => void;
  /** The head of the 101 is good; at most one of these three comes, and none after the call was given up. */
  readonly onSwitched: () => void;
  /** An answer that is no 101. */
  readonly onAnswer: (answer: IncomingMessage) => void;
  /** `unsent`: there never was a connection. */
  readonly onFailure: (cause: unknown, unsent: boolean) => void;
  /** After `onSwitched`, when the 101 is written and both sides are being copied. */
  readonly onOpen: (ends: { readonly end: Duplex; readonly upstream: Socket }) => void;
}

/** Starts it and returns how to give it up. Time-outs for connection and head are those of the order's upstream. */
export function shakeHands(options: HandshakeOptions): () => void {
  const { inbound, client, order, route } = options;
  const { name: service, timeouts } = order.upstream;
  const target = new URL(route.origin);
  const end = createClientEnd(client);
  let call: ClientRequest | undefined;
  let connected = false;
  let over = false;
  let limit = limited('upstream_connect_timeout', timeouts.connect);

  function limited(code: 'upstream_connect_timeout' | 'upstream_headers_timeout', timeoutMs: number) {
    return setTimeout(() => fail(new Fault(code, { service, timeoutMs })), timeoutMs);
  }
  /** From here on nothing more is decided by this call. */
  function settle(): void {
    over = true;
    clearTimeout(limit);
  }
  function giveUp(): void {
    if (over) return;
    settle();
    end.destroy();
    call?.destroy();
  }
  function fail(cause: unknown): void {
    if (over) return;
    giveUp();
    options.onFailure(cause, !connected);
  }

  function onUpgrade(answer: IncomingMessage, upstream: Socket): void {
    upstream.on('error', () => undefined);
    try {
      if (over) throw new Error('the client left');
      const { 'sec-websocket-key': key } = inbound.raw.headers;
      switchedHead(answer, { key, service }, options.decorate);
    } catch (cause) {
      // WS-3: what http-proxy-3 writes now ends at the destroyed stand-in.
      upstream.destroy();
      fail(cause);
      return;
    }
    settle();
    options.onSwitched();
    // When http-proxy-3 has written the head, set up both connections and begun to copy.
    proxy.once('open', () => options.onOpen({ end, upstream }));
  }

  function onResponse(answer: IncomingMessage): void {
    // Destroyed, it is passed over by http-proxy-3, which would write neither whole nor safely.
    end.destroy();
    if (over) return;
    settle();
    options.onAnswer(answer);
  }

  const proxy = createProxyServer();
  // Without a listener it throws.
  proxy.on('error', fail);
  proxy.once('proxyReqWs', (request) => {
    call = request;
    // http-proxy-3 has read it through a URL parser; the bytes that were judged are what is sent (ORD-2).
    request.path = order.target;
    request.once('socket', (socket) => {
      socket.once(target.protocol === 'https:' ? 'secureConnect' : 'connect', () => {
        connected = true;
        if (over) return;
        clearTimeout(limit);
        limit = limited('upstream_headers_timeout', timeouts.headers);
      });
    });
    // Before those of http-proxy-3, which are added after this event.
    request.once('upgrade', onUpgrade);
    request.once('response', onResponse);
  });
  try {
    const asked = handshakeFor(inbound, order, target);
    // The agent verifies, and brings what the upstream's section says of TLS.
    proxy.ws(
      asked,
      end,
      options.head,
      { target, secure: true, prependPath: false, agent: route.agent },
      fail,
    );
  } catch (cause) {
    fail(cause);
  }
  route.dispatched();
  return giveUp;
}

/** The request as http-proxy-3 sends it on: the header section of any forwarded request, and the upgrade of this hop (WS-3). */
function handshakeFor(inbound: Inbound, order: ForwardOrder, { host }: URL): IncomingMessage {
  const headers = new Map<string, string | string[]>();
  const flat = upstreamHeaders(inbound, order);
  for (let index = 0; index < flat.length; index += 2) {
    const name = (flat[index] ?? '').toLowerCase();
    const value = flat[index + 1] ?? '';
    const before = headers.get(name);
    headers.set(name, before === undefined ? value : [before, value].flat());
  }
  if (!headers.has('host')) headers.set('host', host);
  const asked = new IncomingMessage(inbound.raw.socket);
  asked.method = 'GET';
  asked.url = '/';
  asked.httpVersionMajor = 1;
  asked.headers = { ...Object.fromEntries(headers), connection: 'Upgrade', upgrade: 'websocket' };
  return asked;
}
