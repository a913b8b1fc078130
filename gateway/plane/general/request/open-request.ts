// What a listener holds of one request between its first line and the end of its answer, and of its connection.
// Made by request-life.ts; turns.ts orders those of one connection, give-answer.ts writes to it.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Outcome } from '../../../exchange/exchange.ts';
import type { ExchangeFacts } from '../../../exchange/facts.ts';
import type { Authority, RequestGlimpse, RequestView } from '../../../exchange/request-view.ts';
import type { ClientAddress, Inbound, ListenerOptions, ShownCertificates } from '../../port.ts';
import type { Sessions } from '../connection/sessions.ts';
import { http2StreamOf, pathOf } from './message.ts';

/** What a listener has for all of its requests. */
import type { WatchedBody } from './slow-bodies.ts';
import type { WatchedReader } from './slow-readers.ts';

export interface RequestPorts extends Omit<ListenerOptions, 'address' | 'socket'> {
  readonly scheme: 'https' | 'http';
  readonly sessions: Pick<Sessions, 'hasReset'>;
  readonly isDraining: () => boolean;
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

export interface ConnectionFacts {
  /** The client that opened it, or a trusted proxy. */
  readonly peer: ClientAddress;
  /** Undefined on a plain connection. */
  readonly certificates: ShownCertificates | undefined;
  /** The last X-Forwarded-For line of a trusted proxy. */
  forwarded: { readonly line: string; readonly client: ClientAddress } | undefined;
  /** The last Host line or `:authority`. */
  host: RequestedHost | undefined;
  /** Every further request on this HTTP/1 connection is ignored (FWD-12, SMG-26). */
  isSealed: boolean;
  /** The last request begun on an HTTP/1 connection, while that is not over. */
  latest: OpenRequest | undefined;
  /** HTTP/1 requests that have no whole answer yet. */
  unanswered: number;
}

export interface RequestedHost {
  /** As sent. */
  readonly text: string;
  readonly authority: Authority;
  /** The certificate of the connection is not for this host. */
  readonly isMisdirected: boolean;
}

export interface OpenRequest {
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
  /** As slow readers and slow bodies watch it. */
  reader: WatchedReader | undefined;
  body: WatchedBody<OpenRequest> | undefined;
  /** Body bytes of an answer made here. */
  bytes: number;
  gone: boolean;
  answered: boolean;
  /** Observed; nothing happens to it any more. */
  ended: boolean;
  /** Its connection is a WebSocket now; the 101 was its answer. */
  switched: boolean;
  /** Called when its turn has come, where Node does not order the answers itself. */
  onTurn: (() => void) | undefined;
  /** The connection ends with this answer. */
  closeAfter: boolean;
  /** The one before it on its HTTP/1 connection, while that is not answered. */
  before: OpenRequest | undefined;
  /** Told to the one behind it. */
  onEnded: (() => void) | undefined;
}

export function openRequest(
  given: Pick<OpenRequest, 'raw' | 'res' | 'facts' | 'connection' | 'client' | 'glimpse' | 'view'>,
): OpenRequest {
  return {
    ...given,
    isHttp2: http2StreamOf(given.res) !== undefined,
    inbound: undefined,
    reader: undefined,
    body: undefined,
    bytes: 0,
    gone: false,
    answered: false,
    ended: false,
    switched: false,
    onTurn: undefined,
    closeAfter: false,
    before: undefined,
    onEnded: undefined,
  };
}

/** What is observed for a client that left before any status was sent. */
const CLIENT_LEFT = 499;

/** What is observed of a request that has ended; `complete`: its answer was handed over whole. */
export function outcomeOf(open: OpenRequest, complete: boolean): Outcome {
  const { raw, res, inbound, view, glimpse, client, switched } = open;
  return {
    method: raw.method ?? '-',
    path: view?.path ?? pathOf(raw),
    status: switched ? 101 : res.headersSent ? res.statusCode : CLIENT_LEFT,
    bytes: open.bytes + (inbound?.bytes ?? 0),
    clientAddress: client.full,
    clientNetwork: client.key,
    scheme: glimpse.scheme,
    protocol: `HTTP/${raw.httpVersion}`,
    aborted: !complete,
    userAgent: raw.headers['user-agent'],
  };
}
