// One client connection of the fast plane. Parses requests and serves them one at a time, in order.
import type { Socket } from 'node:net';
import type { RequestRefusal } from '../../exchange/directive.ts';
import { type ClientConnection, createClientConnection } from '../client-connection.ts';
import { endGracefully } from '../graceful-end.ts';
import { TOO_LATE } from '../slow-clients.ts';
import { AnswerStream } from './answer-stream.ts';
import type { FastLife } from './fast-life.ts';
import type { ConnectionEnds, FastPorts, RequestConnection } from './fast-ports.ts';
import { FastRequest } from './fast-request.ts';
import { isOneMessage, MessageDuplex } from './message-duplex.ts';
import { NextRequest } from './next-request.ts';
import { framingRefusal } from './request-body.ts';
import { EXTRA_SPACE, hasExtraSpace } from './request-method.ts';
import { readStage, runStages } from './request-stages.ts';

export class FastConnection implements RequestConnection {
  readonly socket: Socket;
  readonly ports: FastPorts;
  readonly known: ClientConnection;
  readonly answers: AnswerStream;
  /** Index in the list that the sweep for slow clients visits. */
  place = -1;
  readonly #life: FastLife;
  readonly #ends: ConnectionEnds;
  readonly #next = new NextRequest();
  #request: FastRequest | undefined;
  /** A request that the general plane serves. */
  #message: MessageDuplex | undefined;
  #hasServed = false;
  /** Further octets are not parsed as requests. */
  #isSealed = false;

  constructor(socket: Socket, ports: FastPorts, life: FastLife, ends: ConnectionEnds) {
    this.socket = socket;
    this.ports = ports;
    this.#life = life;
    this.#ends = ends;
    const peer = ports.limits.clientAddress(socket.remoteAddress ?? '', undefined);
    this.known = createClientConnection(peer, ports.tls?.shown(socket));
    this.answers = new AnswerStream(socket, this.#onAnswered);
    socket.on('data', this.#onData);
    socket.on('end', this.#onEnd);
    socket.on('close', this.#onClose);
    // `close` follows and handles the end.
    socket.on('error', ignore);
  }

  get isBusy(): boolean {
    return this.#request !== undefined || this.#message !== undefined || this.#next.isUnread;
  }

  readonly readOn = (): void => {
    if (!this.#next.hasPipelined) this.socket.resume();
  };

  readonly #onData = (chunk: Buffer): void => {
    if (this.#isSealed || this.socket.writableEnded) return;
    if (this.#request !== undefined) this.#takeBody(this.#request, chunk, 0);
    else if (this.#message !== undefined) this.#keep(chunk);
    else if (this.#next.add(chunk)) readStage.schedule(readConnection, this);
  };

  read(): void {
    const all = this.#next.take();
    if (all === undefined) return;
    const head = this.ports.readHead(all);
    if (head === 'other' && hasExtraSpace(all)) this.#refuseHead(EXTRA_SPACE);
    else if (head === 'other' && isOneMessage(all)) this.#serve(all);
    else if (head === 'other' || (head === 'partial' && this.#next.isInSmallPieces)) this.#handOver(all);
    else if (head === 'partial') this.#next.putBack(all);
    else {
      const request = new FastRequest(this, head);
      this.#request = request;
      this.#life.begin(request);
      this.#takeBody(request, all, head.octets);
    }
  }

  #serve(head: Buffer): void {
    this.#message = new MessageDuplex(this.socket, this.known, head, (isLast) => {
      this.#message = undefined;
      this.#onResponseWritten(isLast);
    });
    this.#ends.serve(this.#message);
  }

  /** Passes the octets of the body to `request`. The rest waits until the response is complete. */
  #takeBody(request: FastRequest, bytes: Buffer, from: number): void {
    let at = from;
    const { received } = request;
    if (received !== undefined && !received.isWhole && at < bytes.length) {
      try {
        at = received.receive(bytes, at);
      } catch (thrown) {
        this.#refuseBody(request, framingRefusal(thrown));
        return;
      }
      if (received.isFull && !received.isWhole) this.socket.pause();
    }
    if (at < bytes.length) this.#keep(at === 0 ? bytes : bytes.subarray(at));
  }

  /** Buffers octets after the current request until its response is complete. */
  #keep(bytes: Buffer): void {
    const unfit = this.#next.addPipelined(bytes);
    // Reads up to this bound, because a paused socket does not report that the client disconnected.
    if (this.#next.hasTooMuchPipelined) this.socket.pause();
    if (unfit === undefined) return;
    // For example a GET body without framing. The connection closes after this response.
    this.#isSealed = true;
    if (this.#request !== undefined) this.#request.closeAfter = true;
    // Node's parser refuses these octets too, and then sends `Connection: close`.
    this.#message?.push(unfit);
  }

  /** ERR-3: the connection closes, because the end of the malformed body is unknown. */
  #refuseBody(request: FastRequest, refusal: RequestRefusal): void {
    this.#isSealed = true;
    if (request.answered) {
      this.answers.writeNow();
      this.socket.destroy();
    } else this.#life.refuse(request, refusal);
    request.onGone?.();
  }

  readonly #onAnswered = (): void => {
    const request = this.#request;
    this.#request = undefined;
    if (request === undefined) return;
    this.#life.end(request, true);
    this.#onResponseWritten(request.closeAfter);
  };

  #onResponseWritten(isLast: boolean): void {
    this.#hasServed = true;
    this.#next.since = performance.now();
    const pipelined = this.#next.takePipelined();
    if (isLast || this.#isSealed || this.ports.isEnding()) {
      this.#isSealed = true;
      this.socket.resume();
      endGracefully(this.socket);
    } else if (pipelined !== undefined) {
      this.socket.resume();
      if (this.#next.add(pipelined)) readStage.schedule(readConnection, this);
    }
  }

  readonly #onEnd = (): void => {
    // Serves requests that arrived before the FIN, and writes complete responses.
    runStages();
    const request = this.#request;
    // The rest of the head or body can no longer arrive.
    if (this.#next.hasBegun || (request !== undefined && !request.endedWhole())) this.socket.destroy();
    // Node's server ends the message as it ends a socket.
    else if (this.#message !== undefined) this.#message.push(null);
    else this.socket.end();
  };

  readonly #onClose = (): void => {
    runStages();
    this.#detach();
    const request = this.#request;
    this.#request = undefined;
    if (request !== undefined) this.#life.end(request, false);
    this.#message?.destroy();
  };

  look(now: number): void {
    const { headersMs, idleMs, requestMs } = this.ports.limits.bounds;
    const waited = now - this.#next.since;
    const request = this.#request;
    if (request !== undefined) {
      const isLate = waited > Math.max(requestMs, headersMs);
      if (isLate && !request.endedWhole()) this.#refuseBody(request, TOO_LATE);
    } else if (this.#isSealed || this.#message !== undefined) return;
    else if (this.#next.hasBegun || !this.#hasServed) {
      if (waited > headersMs) this.#refuseHead(TOO_LATE);
    } else if (waited > idleMs) this.socket.destroy();
  }

  #refuseHead(refusal: RequestRefusal): void {
    this.#isSealed = true;
    this.#life.refuseHead(this, refusal);
  }

  /** Closes the connection unless a request has begun. */
  endIdle(): void {
    if (this.isBusy || this.#next.hasBegun || this.#isSealed) return;
    this.#isSealed = true;
    endGracefully(this.socket);
  }

  #detach(): void {
    const { socket } = this;
    socket.off('data', this.#onData);
    socket.off('end', this.#onEnd);
    socket.off('close', this.#onClose);
    this.#ends.onLeft();
  }

  #handOver(bytes: Buffer): void {
    const { socket } = this;
    // Neither plane answers a new request of a client that sent FIN.
    if (socket.readableEnded) {
      socket.destroy();
      return;
    }
    this.#detach();
    socket.off('error', ignore);
    socket.pause();
    socket.unshift(bytes);
    this.#ends.handOver();
    socket.resume();
  }
}

const readConnection = (connection: FastConnection): void => connection.read();

function ignore(): void {}
