// What a listener holds of a client connection, and of the requests on it in their order.
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
  /** Each answer says that its connection ends. */
  readonly isDraining: () => boolean;
  /** A connection ends behind the answer under way, whatever that said. */
  readonly isEnding: () => boolean;
}

/** A request that will be judged, as Node holds it. */
export interface NodeInbound extends Inbound {
  /** HTTP/2 requests arrive through Node's compatibility API, which has the same shape. */
  readonly raw: IncomingMessage;
  readonly res: ServerResponse;
  /** Whether this answer must say `Connection: close`; asked when its head is written (drain). */
  readonly mustClose: () => boolean;
  /** Called before an answer's head that ends the connection; the listener then ignores what follows on it. */
  readonly sealConnection: () => void;
}

export interface ConnectionFacts extends ClientConnection {
  /** Every further request on this HTTP/1 connection is ignored (FWD-12, SMG-26). */
  isSealed: boolean;
  /** The last request begun on an HTTP/1 connection, while that is not over. */
  latest: OpenRequest | undefined;
  /** HTTP/1 requests that have no whole answer yet. */
  unanswered: number;
  /** Called when an answer was written whole and does not end the connection. */
  readonly onKept?: (() => void) | undefined;
}

/** A request between its first line and the end of its answer. */
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
  /** Set for what is judged; what the listener answers itself has none. */
  inbound: NodeInbound | undefined;
  /** Where it stands in the list of those that are watched for slow clients. */
  place = -1;
  /** Octets of the answer that the client's side has taken, and sweeps since then in which more waited. */
  taken = 0;
  sweepsUnread = 0;
  /** While it is awaited: sweeps in which it was, and what came in them. */
  arriving: { waited: number; bytes: number; counts: boolean } | undefined;
  bytes = 0;
  gone = false;
  answered = false;
  /** Observed; nothing happens to it any more. */
  ended = false;
  /** Its connection is a WebSocket now; the 101 was its answer. */
  switched = false;
  /** Lets its answer onto the connection, where Node does not order the answers itself. */
  attach: (() => void) | undefined;
  closeAfter = false;
  /** The one before it on its HTTP/1 connection, while that is not answered. */
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

/** A connection in memory that carries one request of another connection. */
export interface MessageConnection extends Pick<ConnectionFacts, 'onKept'> {
  readonly known: ClientConnection;
}

/** Kept on the socket itself, where HTTP/2's stand-in for a socket shows it too. */
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
 * Pipelined requests are answered in order, one at a time. RFC 9112 §9.3.2 lets only safe ones run side by side, and each
 * would keep an upstream connection until then.
 */
export function joinPipeline(open: OpenRequest): void {
  const { connection } = open;
  open.before = connection.latest;
  connection.latest = open;
  connection.unanswered += 1;
}

/** Undefined when none is before it; else resolves when that one has ended. */
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
    // An idle connection keeps nothing of any request.
    if (connection.latest === open) connection.latest = undefined;
  }
  open.ended = true;
  open.before = undefined;
  open.onEnded?.();
}

/** Requests that are still open, the oldest first: when a connection closes Node tells only that one. */
export function openOn({ latest }: ConnectionFacts): readonly OpenRequest[] {
  const found: OpenRequest[] = [];
  for (let open = latest; open !== undefined; open = open.before) found.unshift(open);
  return found;
}
