// One WebSocket handshake with one target, through http-proxy-3: asked, judged, and handed over once the target has switched.
import { createHash } from 'node:crypto';
import {
  type ClientRequest,
  type IncomingHttpHeaders,
  IncomingMessage,
  validateHeaderValue,
} from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { createProxyServer } from 'http-proxy-3';
import type { HeaderLines } from '../../../exchange/answer-headers.ts';
import { Fault, type ForwardOrder } from '../../../exchange/directive.ts';
import type { StartDeadline } from '../../../upstream/deadlines.ts';
import { flatFields, upstreamHeaders } from '../../../upstream/request-headers.ts';
import { type Answering, cleanFields } from '../../../upstream/response-headers.ts';
import type { UpstreamRoute } from '../../../upstream/upstreams.ts';
import type { HttpConnections } from '../client/http-connections.ts';
import type { NodeInbound } from '../request/open-request.ts';
import { createClientEnd } from './tunnel.ts';

export interface HandshakeOptions {
  readonly inbound: NodeInbound;
  readonly client: Socket;
  /** What came behind the client's handshake. */
  readonly head: Buffer;
  readonly order: ForwardOrder;
  readonly route: UpstreamRoute<HttpConnections>;
  readonly startDeadline: StartDeadline;
  readonly decorate: (headers: HeaderLines) => void;
  /** The head of the 101 is good; at most one of these three comes, and none after the call was given up. */
  readonly onSwitched: () => void;
  readonly onAnswer: (answer: IncomingMessage) => void;
  /** `unsent`: there never was a connection. */
  readonly onFailure: (cause: unknown, unsent: boolean) => void;
  /** After `onSwitched`, when the 101 is written and both sides are being copied. */
  readonly onOpen: (ends: { readonly end: Duplex; readonly upstream: Socket }) => void;
}

/**
 * Starts it and returns how to give it up. Time-outs for connection and head are those of the order's upstream.
 * http-proxy-3 keeps `fail` and what is around it for as long as the WebSocket is open: none of that is the request.
 */
export function shakeHands(options: HandshakeOptions): () => void {
  const { inbound, client, order, route, startDeadline } = options;
  const { name: service, timeouts } = order.upstream;
  const { 'sec-websocket-key': key } = inbound.raw.headers;
  const path = order.target;
  const target = new URL(route.connections.origin);
  let events: HandshakeOptions | undefined = options;
  const end = createClientEnd(client);
  let call: ClientRequest | undefined;
  let connected = false;
  let limit = limited('upstream_connect_timeout', timeouts.connect);

  function limited(code: 'upstream_connect_timeout' | 'upstream_headers_timeout', timeoutMs: number) {
    return startDeadline(timeoutMs, () => fail(new Fault(code, { service, timeoutMs })));
  }
  /** From here on nothing more is decided by this call. */
  function settle(): HandshakeOptions | undefined {
    const last = events;
    events = undefined;
    limit.stop();
    return last;
  }
  function giveUp(): HandshakeOptions | undefined {
    const last = settle();
    if (last === undefined) return undefined;
    end.destroy();
    call?.destroy();
    return last;
  }
  function fail(cause: unknown): void {
    giveUp()?.onFailure(cause, !connected);
  }

  function onUpgrade(answer: IncomingMessage, upstream: Socket): void {
    upstream.on('error', passOver);
    try {
      if (events === undefined) throw new Error('the client left');
      switchedHead(answer, { key, upstream: order.upstream }, events.decorate);
    } catch (cause) {
      // WS-3: what http-proxy-3 writes now ends at the destroyed stand-in.
      upstream.destroy();
      fail(cause);
      return;
    }
    const last = settle();
    last?.onSwitched();
    // When http-proxy-3 has written the head, set up both connections and begun to copy.
    proxy.once('open', () => last?.onOpen({ end, upstream }));
  }

  function onResponse(answer: IncomingMessage): void {
    // Destroyed, it is passed over by http-proxy-3, which would write neither whole nor safely.
    end.destroy();
    settle()?.onAnswer(answer);
  }

  const proxy = createProxyServer();
  // Without a listener it throws.
  proxy.on('error', fail);
  proxy.once('proxyReqWs', (request) => {
    call = request;
    // http-proxy-3 has read it through a URL parser; the bytes that were judged are what is sent (ORD-2).
    request.path = path;
    request.once('socket', (socket) => {
      socket.once(target.protocol === 'https:' ? 'secureConnect' : 'connect', () => {
        connected = true;
        if (events === undefined) return;
        limit.stop();
        limit = limited('upstream_headers_timeout', timeouts.headers);
      });
    });
    // Before those of http-proxy-3, which are added after this event.
    request.once('upgrade', onUpgrade);
    request.once('response', onResponse);
  });
  try {
    const message = handshakeFor(inbound, order, target);
    // The agent verifies, and brings what the upstream's section says of TLS.
    proxy.ws(
      message,
      end,
      options.head,
      { target, secure: true, prependPath: false, agent: route.connections.agent },
      fail,
    );
  } catch (cause) {
    fail(cause);
  }
  route.dispatched();
  return () => void giveUp();
}

/** Made here: a listener keeps all that is around it. What follows from the end of a connection does not follow from its error. */
const passOver = (): void => undefined;

/** The request as http-proxy-3 sends it on: the header section of any forwarded request, and the upgrade of this hop (WS-3). */
function handshakeFor(inbound: NodeInbound, order: ForwardOrder, { host }: URL): IncomingMessage {
  const headers = new Map<string, string | string[]>();
  const flat = flatFields(upstreamHeaders(inbound, order));
  for (let index = 0; index < flat.length; index += 2) {
    const name = (flat[index] ?? '').toLowerCase();
    const value = flat[index + 1] ?? '';
    const before = headers.get(name);
    headers.set(name, before === undefined ? value : [before, value].flat());
  }
  if (!headers.has('host')) headers.set('host', host);
  const message = new IncomingMessage(inbound.raw.socket);
  message.method = 'GET';
  message.url = '/';
  message.httpVersionMajor = 1;
  message.headers = { ...Object.fromEntries(headers), connection: 'Upgrade', upgrade: 'websocket' };
  return message;
}

/** RFC 6455 §1.3. */
const ACCEPT_SUFFIX = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

/**
 * The head of an upstream's 101: believed only if it answers this very handshake, then made into ours (WS-3, WS-5).
 * Replaces the fields of `answer`, which http-proxy-3 writes to the client as they stand.
 * @throws Fault `upstream_invalid` when the upstream switched to another protocol or answers another handshake
 */
export function switchedHead(
  answer: IncomingMessage,
  { key, upstream }: { readonly key: string | undefined; readonly upstream: Answering },
  decorate: (headers: HeaderLines) => void,
): void {
  const { headers, httpVersion } = answer;
  const accept = createHash('sha1').update(`${key}${ACCEPT_SUFFIX}`).digest('base64');
  // RFC 9110 §7.8, §15.2: HTTP/1.0 knows neither an upgrade nor a 101.
  const isSwitch = httpVersion === '1.1' && headers.upgrade?.toLowerCase() === 'websocket';
  if (!isSwitch || headers['sec-websocket-accept'] !== accept)
    throw new Fault('upstream_invalid', { service: upstream.name });
  const fields = cleanFields(headers, upstream);
  fields.remove('content-length');
  decorate(fields);
  // Of this hop, like the key, and so also where the upstream's Connection names it.
  const ofThisHop = { 'sec-websocket-accept': accept, connection: 'Upgrade', upgrade: 'websocket' };
  const record = fields.record();
  for (const [name, value] of Object.entries(record))
    for (const each of [value].flat()) validateHeaderValue(name, each);
  answer.headers = { ...record, ...ofThisHop } as IncomingHttpHeaders;
}
