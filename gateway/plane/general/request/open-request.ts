// The state of a client connection and of its requests, in their order.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { ExchangeFacts } from '../../../exchange/facts.ts';
import type { RequestGlimpse, RequestView } from '../../../exchange/request-view.ts';
import { type ClientConnection, createClientConnection } from '../../client-connection.ts';
import type { ClientAddress, Inbound, ListenerLimits, ListenerOptions, TlsTermination } from '../../port.ts';
import type { Http2Sessions } from '../connection/sessions.ts';

export interface RequestPorts extends Omit<ListenerOptions, 'address' | 'socket'> {
  readonly scheme: 'https' | 'http';
  readonly sessions: Pick<Http2Sessions, 'hasReset'>;
  /** Each response has `Connection: close`. */
  readonly isDraining: () => boolean;
  /** Each connection closes after its current response, whether or not the response said so. */
  readonly isEnding: () => boolean;
}

export interface NodeInbound extends Inbound {
  /** Node's compatibility API gives HTTP/2 requests the same shape. */
  readonly raw: IncomingMessage;
  readonly res: ServerResponse;
  /** Whether this response must have `Connection: close`. Called when its head is written (drain). */
  readonly mustClose: () => boolean;
  /** Called before the head of the last response on a connection. The listener ignores later requests on it. */
  readonly sealConnection: () => void;
}

export interface ConnectionFacts extends ClientConnection {
  /** Every further request on this HTTP/1 connection is ignored (FWD-12, SMG-26). */
  isSealed: boolean;
  /** The latest request on an HTTP/1 connection, until it ends. */
  latest: OpenRequest | undefined;
  unanswered: number;
  /** Called after a complete response that keeps the connection open. */
  readonly onKept?: (() => void) | undefined;
}

/** A request between its first line and the end of its response. */
export class OpenRequest {
  readonly raw: IncomingMessage;
  readonly res: ServerResponse;
  readonly facts: ExchangeFacts;
  readonly isHttp2: boolean;
  readonly connection: ConnectionFacts;
  readonly client: ClientAddress;
  readonly glimpse: RequestGlimpse;
  /** Undefined when the request could not be read. */
  readonly view: RequestView | undefined;
  /** Undefined for a request that the listener answers itself. */
  inbound: NodeInbound | undefined;
  /** Index in the list that the sweep for slow clients visits. */
  place = -1;
  /** Octets of the response that the client accepted, and the number of sweeps since then with more octets waiting. */
  taken = 0;
  sweepsUnread = 0;
  /** While the body is awaited: the number of sweeps, and the octets that arrived during them. */
  arriving: { waited: number; bytes: number; counts: boolean } | undefined;
  bytes = 0;
  gone = false;
  answered = false;
  /** The request was reported to the observer. Later events of it are ignored. */
  ended = false;
  /** The connection became a WebSocket. The response was the 101. */
  switched = false;
  /** Writes the response to the connection. Set if Node does not order the responses. */
  attach: (() => void) | undefined;
  closeAfter = false;
  /** The previous request on the HTTP/1 connection, if it was open when this one began. */
  before: OpenRequest | undefined;
  onEnded: (() => void) | undefined;

  constructor(
    given: Pick<
      OpenRequest,
      'raw' | 'res' | 'isHttp2' | 'facts' | 'connection' | 'client' | 'glimpse' | 'view'
    >,
  ) {
    this.raw = given.raw;
    this.res = given.res;
    this.isHttp2 = given.isHttp2;
    this.facts = given.facts;
    this.connection = given.connection;
    this.client = given.client;
    this.glimpse = given.glimpse;
    this.view = given.view;
  }
}

/** An in-memory connection that carries one request of another connection. */
export interface MessageConnection extends Pick<ConnectionFacts, 'onKept'> {
  readonly known: ClientConnection;
}

/** Stored on the socket, because HTTP/2's proxy of the socket also shows it. */
const FACTS = Symbol('connection facts');

export function connectionFacts(
  socket: Socket & { [FACTS]?: ConnectionFacts },
  clientAddress: ListenerLimits['clientAddress'],
  tls: Pick<TlsTermination, 'shown'> | undefined,
  message?: MessageConnection,
): ConnectionFacts {
  const before = socket[FACTS];
  if (before !== undefined) return before;
  const opened =
    message?.known ??
    createClientConnection(clientAddress(socket.remoteAddress ?? '', undefined), tls?.shown(socket));
  const { onKept } = message ?? {};
  const found = { ...opened, latest: undefined, isSealed: false, unanswered: 0, onKept };
  socket[FACTS] = found;
  return found;
}

/**
 * Pipelined requests are served one at a time, in order. RFC 9112 §9.3.2 allows only safe ones to run in
 * parallel, and each would hold an upstream connection until its turn.
 */
export function joinPipeline(open: OpenRequest): void {
  const { connection } = open;
  open.before = connection.latest;
  connection.latest = open;
  connection.unanswered += 1;
}

/** Resolves when the previous request has ended. Undefined if there is none. */
export function previousEnded({ before }: OpenRequest): Promise<void> | undefined {
  if (before === undefined || before.ended) return undefined;
  return new Promise((resolve) => {
    before.onEnded = resolve;
  });
}

export function leavePipeline(open: OpenRequest): void {
  if (!open.isHttp2) {
    const { connection } = open;
    connection.unanswered -= 1;
    // An idle connection keeps no request in memory.
    if (connection.latest === open) connection.latest = undefined;
  }
  open.ended = true;
  open.before = undefined;
  open.onEnded?.();
}

/** The open requests of a connection, oldest first. Node reports the close of a connection only for the oldest. */
export function openOn({ latest }: ConnectionFacts): readonly OpenRequest[] {
  const found: OpenRequest[] = [];
  for (let open = latest; open !== undefined; open = open.before) found.unshift(open);
  return found;
}
