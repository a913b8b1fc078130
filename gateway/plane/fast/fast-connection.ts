// One client connection of the fast plane: octets become requests, one at a time and in order.
import type { Socket } from 'node:net';
import type { RequestRefusal } from '../../exchange/directive.ts';
import { type ClientConnection, createClientConnection } from '../client-connection.ts';
import { endGracefully } from '../graceful-end.ts';
import { TOO_LATE } from '../slow-clients.ts';
import { refuseOnSocket } from '../socket-refusal.ts';
import { AnswerStream } from './answer-stream.ts';
import type { FastLife } from './fast-life.ts';
import type { FastPorts, RequestConnection } from './fast-ports.ts';
import { FastRequest } from './fast-request.ts';
import { joined, NextRequest } from './next-request.ts';
import { framingRefusal } from './request-body.ts';
import { mayBeRequest } from './request-method.ts';
import { readStage, runStages } from './request-stages.ts';

/** Octets of further requests that wait for the end of an answer. */
const MOST_WAITING = 64 * 1_024;

export interface ConnectionEnds {
  /** Node's parser has it from now on. */
  readonly handOver: () => void;
  readonly onLeft: (connection: FastConnection) => void;
}

export class FastConnection implements RequestConnection {
  readonly socket: Socket;
  readonly ports: FastPorts;
  readonly known: ClientConnection;
  readonly answers: AnswerStream;
  /** Where it stands in the list of those that are swept. */
  place = -1;
  readonly #life: FastLife;
  readonly #ends: ConnectionEnds;
  readonly #next = new NextRequest();
  /** Came behind the request that is under way. */
  #rest: Buffer | undefined;
  #request: FastRequest | undefined;
  #hasServed = false;
  /** Nothing on it is read as a request any more. */
  #isSealed = false;

  constructor(socket: Socket, ports: FastPorts, life: FastLife, ends: ConnectionEnds) {
    this.socket = socket;
    this.ports = ports;
    this.#life = life;
    this.#ends = ends;
    const peer = ports.intake.clientAddress(socket.remoteAddress ?? '', undefined);
    this.known = createClientConnection(peer, ports.tls?.shown(socket));
    this.answers = new AnswerStream(socket, this.#onAnswered);
    socket.on('data', this.#onData);
    socket.on('end', this.#onEnd);
    socket.on('close', this.#onClose);
    // `close` follows and handles the end.
    socket.on('error', ignore);
  }

  get isBusy(): boolean {
    return this.#request !== undefined || this.#next.isUnread;
  }

  readonly readOn = (): void => {
    if (this.#rest === undefined) this.socket.resume();
  };

  readonly #onData = (chunk: Buffer): void => {
    if (this.#isSealed || this.socket.writableEnded) return;
    if (this.#request !== undefined) this.#takeBody(this.#request, chunk, 0);
    else this.#readSoon(chunk);
  };

  #readSoon(chunk: Buffer): void {
    const isWaiting = this.#next.isUnread;
    this.#next.add(chunk);
    if (!isWaiting) readStage.schedule(readConnection, this);
  }

  read(): void {
    const all = this.#next.take();
    if (all === undefined) return;
    const head = this.ports.readHead(all);
    if (head === 'other' || (head === 'partial' && this.#next.isInSmallPieces)) this.#handOver(all);
    else if (head === 'partial') this.#next.putBack(all);
    else {
      const request = new FastRequest(this, head);
      this.#request = request;
      this.#life.begin(request);
      this.#takeBody(request, all, head.octets);
    }
  }

  /** Gives `request` what is its own of `bytes`; the rest waits for the end of its answer. */
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
    if (at === bytes.length) return;
    this.#rest = joined(this.#rest, at === 0 ? bytes : bytes.subarray(at));
    if (!mayBeRequest(this.#rest)) {
      // A body without framing, for one, as some clients send it with a GET: this answer is the last one.
      request.closeAfter = true;
      this.#isSealed = true;
      this.#rest = undefined;
      return;
    }
    // Up to here it is read on: of a connection that nobody reads it is not seen that its client has left.
    if (this.#rest.length > MOST_WAITING) this.socket.pause();
  }

  /** What follows cannot be understood (ERR-3). */
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
    if (request === undefined) return;
    this.#request = undefined;
    this.#hasServed = true;
    this.#next.since = performance.now();
    this.#life.end(request, true);
    const rest = this.#rest;
    this.#rest = undefined;
    if (request.closeAfter || this.ports.isDraining()) {
      this.#isSealed = true;
      this.socket.resume();
      endGracefully(this.socket);
    } else if (rest !== undefined) {
      this.socket.resume();
      this.#readSoon(rest);
    }
  };

  readonly #onEnd = (): void => {
    // Requests that arrived before the end are served, and finished answers are written.
    runStages();
    const request = this.#request;
    // The rest of the head or body cannot arrive any more.
    if (this.#next.hasBegun || (request !== undefined && !request.endedWhole())) this.socket.destroy();
    else this.socket.end();
  };

  readonly #onClose = (): void => {
    runStages();
    this.#detach();
    const request = this.#request;
    this.#request = undefined;
    if (request !== undefined) this.#life.end(request, false);
  };

  look(now: number): void {
    const { headersMs, idleMs, requestMs } = this.ports.intake.bounds;
    const waited = now - this.#next.since;
    const request = this.#request;
    if (request !== undefined) {
      if (!request.endedWhole() && waited > Math.max(requestMs, headersMs))
        this.#refuseBody(request, TOO_LATE);
    } else if (this.#isSealed) return;
    else if (this.#next.hasBegun || !this.#hasServed) {
      if (waited <= headersMs) return;
      this.#isSealed = true;
      this.ports.intake.report.refused('headers');
      refuseOnSocket(TOO_LATE, this.socket, this.known.peer, this.ports);
    } else if (waited > idleMs) this.socket.destroy();
  }

  /** Ends it if no request has begun on it. */
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
    this.#ends.onLeft(this);
  }

  #handOver(bytes: Buffer): void {
    const { socket } = this;
    // Neither plane answers a client that has ended its side.
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

function readConnection(connection: FastConnection): void {
  connection.read();
}

function ignore(): void {}
