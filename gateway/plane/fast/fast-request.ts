// One request on the fast plane, with the interface that upstream/ uses to read it and to write the response.
import { Readable } from 'node:stream';
import type { HeaderLines } from '../../exchange/answer-headers.ts';
import type { Directive, ForwardOrder } from '../../exchange/directive.ts';
import type { ExchangeAnswer, ExchangeOutcome } from '../../exchange/exchange.ts';
import type { ExchangeFacts } from '../../exchange/facts.ts';
import type { RequestGlimpse, RequestView } from '../../exchange/request-view.ts';
import { forwardedField } from '../../upstream/request-headers.ts';
import { finishHead, hasNoContent } from '../../upstream/response-headers.ts';
import { headText } from '../answer-text.ts';
import { clientOf } from '../client-connection.ts';
import type { AnswerSink, ClientAddress, Inbound } from '../port.ts';
import { glimpseOf, type RequestReading, readResource, requestIdOf } from '../request-reading.ts';
import type { Watched } from '../slow-clients.ts';
import type { RequestConnection } from './fast-ports.ts';
import { RequestBody } from './request-body.ts';
import type { FastHead } from './request-head.ts';

/** Logged status if the client disconnects before a status is sent. */
const CLIENT_DISCONNECTED = 499;
const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';
const NO_BODY = Readable.from([]);

export class FastRequest implements Inbound, AnswerSink, Watched {
  readonly httpVersion = '1.1';
  readonly facts: ExchangeFacts;
  readonly reading: RequestReading;
  readonly glimpse: RequestGlimpse;
  readonly client: ClientAddress;
  /** Undefined: the message has no body. */
  readonly received: RequestBody | undefined;
  closeAfter: boolean;
  /** A status is written or scheduled. */
  answered = false;
  bytes = 0;
  gone = false;
  onGone: (() => void) | undefined;
  /** The decision, until it is executed. */
  directive: Directive | undefined;
  place = -1;
  taken = 0;
  sweepsUnread = 0;
  arriving: { waited: number; bytes: number } | undefined;
  readonly #connection: RequestConnection;
  readonly #head: FastHead;
  #order: ForwardOrder | undefined;
  #status = CLIENT_DISCONNECTED;
  #closed: (() => void)[] | undefined;

  constructor(connection: RequestConnection, head: FastHead) {
    const { ports, known } = connection;
    const { exchange, limits, scheme } = ports;
    this.#connection = connection;
    this.#head = head;
    this.closeAfter = !head.keepsAlive;
    const length = head.body ?? 0;
    if (length !== 0) {
      this.received = new RequestBody(length, connection.readOn);
      this.arriving = { waited: 0, bytes: 0 };
    }
    const address = clientOf(known, head.headers['x-forwarded-for'], limits.clientAddress);
    this.client = address;
    const requestId = requestIdOf(head);
    const headers = head.fields;
    this.facts = exchange.begin(requestId, headers);
    const { trace } = this.facts.start;
    const context = { scheme, isHttp2: false, connection: known, address, requestId, trace, headers };
    this.reading = readResource(head, false, context);
    this.glimpse = this.reading.kind === 'refused' ? glimpseOf(context) : this.reading.view;
  }

  get view(): RequestView {
    return this.#judged.view;
  }

  get #judged(): Extract<RequestReading, { kind: 'view' }> {
    if (this.reading.kind !== 'view') throw new Error('the plane answers this request itself');
    return this.reading;
  }

  get forwardedFor(): string {
    return this.client.chain;
  }

  get forwardedHost(): string {
    return this.#judged.forwardedHost;
  }

  get forwarded(): string | undefined {
    if (!this.#connection.ports.sendsForwarded) return undefined;
    return forwardedField({ chain: this.client.chain, scheme: this.view.scheme, host: this.forwardedHost });
  }

  get hasBody(): boolean {
    return this.received !== undefined;
  }

  get body(): Readable {
    return this.received ?? NO_BODY;
  }

  endedWhole(): boolean {
    return this.received === undefined || this.received.isWhole;
  }

  isPadded(): boolean {
    return this.received?.isPadded === true;
  }

  onClosed(listener: () => void): void {
    this.#closed ??= [];
    this.#closed.push(listener);
  }

  /** Executes `order`. FWD-10: sends 100 to a client that expects it. */
  ask(order: ForwardOrder): void {
    this.#order = order;
    if (this.#head.expectsContinue) this.#connection.answers.interim(CONTINUE);
  }

  progress(): { waiting: number; taken: number } {
    const { writableLength: waiting, bytesWritten } = this.#connection.socket;
    return { waiting, taken: bytesWritten - waiting };
  }

  bodyState(): 'ended' | 'held' | 'awaited' {
    const { received, arriving } = this;
    if (received === undefined || arriving === undefined || received.isWhole) return 'ended';
    arriving.bytes += received.arrived;
    received.arrived = 0;
    // Paused, or not consumed.
    return received.readableFlowing !== true || received.readableLength > 0 ? 'held' : 'awaited';
  }

  head(status: number, headers: HeaderLines): void {
    const { facts } = this;
    const order = this.#order;
    const { exchange } = this.#connection.ports;
    if (order === undefined) throw new Error('nothing was forwarded');
    finishHead(exchange, status, headers, { inbound: this, order, facts });
    this.#writeHead(status, headers, false);
  }

  write(chunk: Buffer): boolean {
    this.bytes += chunk.length;
    return this.#connection.answers.write(chunk);
  }

  end(): void {
    this.#connection.answers.end();
  }

  reset(): void {
    this.#connection.answers.cut();
  }

  onDrain(resume: () => void): void {
    this.#connection.socket.once('drain', resume);
  }

  /** Writes a complete response of the gateway. @throws Error `ERR_INVALID_CHAR` before anything is written */
  give({ status, headers, body }: ExchangeAnswer, mustClose: boolean): void {
    const isBare = this.#isBare(status);
    if (status !== 204 && status !== 304) headers.set('content-length', String(Buffer.byteLength(body)));
    this.#writeHead(status, headers, mustClose);
    this.bytes = isBare ? 0 : Buffer.byteLength(body);
    this.#connection.answers.endWith(isBare ? '' : body);
  }

  #isBare(status: number): boolean {
    return this.#head.method === 'HEAD' || hasNoContent(status);
  }

  #writeHead(status: number, headers: HeaderLines, mustClose: boolean): void {
    const { ports, answers } = this.#connection;
    const close = mustClose || this.closeAfter || !this.endedWhole() || ports.isDraining();
    // RFC 9110 §7.8: Upgrade, which a 426 must send, is listed in Connection.
    if (close) headers.set('connection', headers.get('upgrade') === undefined ? 'close' : 'close, upgrade');
    const text = headText(status, headers, ports.date());
    const framing = headers.get('content-length') === undefined ? 'chunked' : 'sized';
    answers.head(text, this.#isBare(status) ? 'none' : framing);
    this.closeAfter = close;
    this.answered = true;
    this.#status = status;
  }

  close(): void {
    for (const listener of this.#closed ?? []) listener();
    this.#closed = undefined;
  }

  outcome(complete: boolean): ExchangeOutcome {
    const { client, glimpse, bytes, reading } = this;
    return {
      method: this.#head.method,
      host: reading.kind === 'refused' ? undefined : reading.view.host,
      path: reading.kind === 'refused' ? pathOf(this.#head.url) : reading.view.path,
      status: this.#status,
      bytes,
      clientAddress: client.full,
      clientNetwork: client.key,
      scheme: glimpse.scheme,
      protocol: 'HTTP/1.1',
      aborted: !complete,
      userAgent: this.#head.headers['user-agent'],
    };
  }
}

/** The path of a target that could not be parsed. */
function pathOf(target: string): string {
  const mark = target.indexOf('?');
  return mark < 0 ? target : target.slice(0, mark);
}
