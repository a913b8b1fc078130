// One WebSocket handshake with one target over http-proxy-3, up to the open connection.
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
  /** Octets after the client's handshake. */
  readonly head: Buffer;
  readonly order: ForwardOrder;
  readonly route: UpstreamRoute<HttpConnections>;
  readonly startDeadline: StartDeadline;
  readonly decorate: (headers: HeaderLines) => void;
  /** The head of the 101 is valid. At most one of the next three is called, and none after the call is cancelled. */
  readonly onSwitched: () => void;
  readonly onAnswer: (answer: IncomingMessage) => void;
  /** `unsent`: no connection was opened. */
  readonly onFailure: (cause: unknown, unsent: boolean) => void;
  /** Called after `onSwitched`, once the 101 is written and both sides are copied. */
  readonly onOpen: (ends: { readonly end: Duplex; readonly upstream: Socket }) => void;
}

/**
 * Starts the handshake and returns a function that cancels it. The timeouts are those of the order's
 * upstream. http-proxy-3 keeps `fail` and its closure in memory while the WebSocket is open, so the closure
 * must not hold the request.
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
      if (events === undefined) throw new Error('the client disconnected');
      switchedHead(answer, { key, upstream: order.upstream }, events.decorate);
    } catch (cause) {
      // WS-3: what http-proxy-3 now writes goes to the destroyed stream.
      upstream.destroy();
      fail(cause);
      return;
    }
    const last = settle();
    last?.onSwitched();
    proxy.once('open', () => last?.onOpen({ end, upstream }));
  }

  function onResponse(answer: IncomingMessage): void {
    // http-proxy-3 ignores a destroyed stream. It would write the response neither completely nor safely.
    end.destroy();
    settle()?.onAnswer(answer);
  }

  const proxy = createProxyServer();
  proxy.on('error', fail);
  proxy.once('proxyReqWs', (request) => {
    call = request;
    // http-proxy-3 has normalised it with a URL parser. The target must stay as judged (ORD-2).
    request.path = path;
    request.once('socket', (socket) => {
      socket.once(target.protocol === 'https:' ? 'secureConnect' : 'connect', () => {
        connected = true;
        if (events === undefined) return;
        limit.stop();
        limit = limited('upstream_headers_timeout', timeouts.headers);
      });
    });
    // Runs before the listeners of http-proxy-3, which are added after this event.
    request.once('upgrade', onUpgrade);
    request.once('response', onResponse);
  });
  try {
    const message = handshakeFor(inbound, order, target);
    // The agent verifies certificates and has the TLS settings of the upstream.
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

/** At the top level, because a closure would keep its scope in memory. The connection's end reports errors. */
const passOver = (): void => undefined;

/** The request that http-proxy-3 sends: the fields of any forwarded request, and the upgrade of this hop (WS-3). */
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
 * Checks that an upstream's 101 answers this handshake, and replaces its fields (WS-3, WS-5). http-proxy-3
 * writes the fields of `answer` to the client unchanged.
 * @throws Fault `upstream_invalid` for another protocol or another handshake
 */
export function switchedHead(
  answer: IncomingMessage,
  { key, upstream }: { readonly key: string | undefined; readonly upstream: Answering },
  decorate: (headers: HeaderLines) => void,
): void {
  const { headers, httpVersion } = answer;
  const accept = createHash('sha1').update(`${key}${ACCEPT_SUFFIX}`).digest('base64');
  // RFC 9110 §7.8, §15.2: HTTP/1.0 has neither upgrades nor 101.
  const isSwitch = httpVersion === '1.1' && headers.upgrade?.toLowerCase() === 'websocket';
  if (!isSwitch || headers['sec-websocket-accept'] !== accept)
    throw new Fault('upstream_invalid', { service: upstream.name });
  const fields = cleanFields(headers, upstream);
  fields.remove('content-length');
  decorate(fields);
  // Hop-by-hop fields, like the key. They stay even if the upstream's Connection lists them.
  const ofThisHop = { 'sec-websocket-accept': accept, connection: 'Upgrade', upgrade: 'websocket' };
  const record = fields.record();
  for (const [name, value] of Object.entries(record))
    for (const each of [value].flat()) validateHeaderValue(name, each);
  answer.headers = { ...record, ...ofThisHop } as IncomingHttpHeaders;
}
