// One HTTP/1.1 connection to a target. Carries one call at a time and parses responses strictly.
import { connect as connectPlain, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { TargetOptions } from '../target-options.ts';
import { type AnswerBody, bodyOf, readBody } from './answer-body.ts';
import { type AnswerHead, readAnswerHead } from './answer-head.ts';
import type { DirectCall } from './direct-call.ts';

export interface TargetPlace {
  readonly host: string;
  readonly port: number;
  readonly isSecure: boolean;
  /** The default Host. */
  readonly authority: string;
  readonly options: TargetOptions;
}

export interface ConnectionEvents {
  /** The response is complete, and another call may follow. */
  readonly onFree: (connection: UpstreamConnection) => void;
  /** The connection closed before any octet of the call was written. */
  readonly onUnwritten: (call: DirectCall) => void;
  /** Called once at the end. `wasOpen`: false if the connection was never established. */
  readonly onLost: (connection: UpstreamConnection, wasOpen: boolean) => void;
}

/** FWD-13: after so many interim responses, the upstream counts as broken. */
const MAX_INTERIM = 100;
/** Read buffer of all connections. A larger one is mostly half empty, a smaller one costs an additional read. */
const shared = Buffer.allocUnsafeSlow(64 * 1_024);

function ended(): Error {
  return Object.assign(new Error('the upstream ended the connection'), { code: 'ECONNRESET' });
}

export class UpstreamConnection {
  readonly socket: Socket;
  served = 0;
  /** Time of the last received octet, monotonic milliseconds. */
  readAt = 0;
  /** Called when the connection is open or has failed. */
  onceOpen: (() => void) | undefined;
  readonly #place: TargetPlace;
  readonly #events: ConnectionEvents;
  readonly #isSingle: boolean;
  #call: DirectCall | undefined;
  #isOpen = false;
  #isLost = false;
  #isPaused = false;
  #hasRead = false;
  #interim = 0;
  #part: Buffer | undefined;
  #head: AnswerHead | undefined;
  /** Undefined: the next octets are a head. */
  #body: AnswerBody | undefined;

  constructor(place: TargetPlace, isSingle: boolean, events: ConnectionEvents) {
    this.#place = place;
    this.#events = events;
    this.#isSingle = isSingle;
    const { host, port, isSecure, options } = place;
    const onread = { buffer: shared, callback: (length: number): boolean => this.#read(length) };
    const target = { ...options, host, port, onread, noDelay: true };
    this.socket = isSecure ? connectTls({ ...target, ALPNProtocols: ['http/1.1'] }) : connectPlain(target);
    this.socket.once(isSecure ? 'secureConnect' : 'connect', () => this.#onOpen());
    this.socket.on('error', (error) => this.#onBreak(error));
    this.socket.on('end', () => this.#onEnd());
    this.socket.once('close', () => this.#onBreak(ended()));
  }

  use(call: DirectCall): void {
    this.#call = call;
    call.connection = this;
    this.#hasRead = false;
    this.#interim = 0;
    this.#body = undefined;
    if (this.#isOpen) this.#start(call);
  }

  resume(): void {
    this.#isPaused = false;
    this.socket.resume();
  }

  /** Destroys the connection and reports `cause` to its call. */
  break(cause: unknown): void {
    const call = this.#call;
    const known = { cause, isOpen: this.#isOpen, hasRead: this.#hasRead, served: this.served };
    this.destroy();
    call?.onBroken(known);
  }

  destroy(): void {
    this.#call = undefined;
    this.socket.destroy();
    if (this.#isLost) return;
    this.#isLost = true;
    this.onceOpen?.();
    this.#events.onLost(this, this.#isOpen);
  }

  #onOpen(): void {
    this.#isOpen = true;
    this.onceOpen?.();
    const call = this.#call;
    if (call === undefined || call.isOver) this.destroy();
    else this.#start(call);
  }

  #start(call: DirectCall): void {
    try {
      call.start(this, this.#place.authority, this.#isSingle);
    } catch (thrown) {
      this.break(thrown);
    }
  }

  #onEnd(): void {
    if (this.#body === 'to-end' && this.#call !== undefined) this.#whole(false);
    else this.#onBreak(ended());
  }

  /** FWD-16: a call of which nothing was written can move to another connection, with any method. */
  #onBreak(cause: unknown): void {
    const call = this.#call;
    if (call === undefined || call.isWritten || this.served === 0) {
      this.break(cause);
      return;
    }
    this.destroy();
    call.takeBack();
    this.#events.onUnwritten(call);
  }

  /** False: pause until `resume`. */
  #read(length: number): boolean {
    // Octets before a request is written are no response to it (response splitting).
    if (this.#call?.isWritten !== true) {
      this.#onBreak(ended());
      return false;
    }
    this.#hasRead = true;
    this.readAt = performance.now();
    const part = this.#part;
    this.#part = undefined;
    try {
      if (part === undefined) this.#take(shared, 0, length);
      else this.#take(Buffer.concat([part, shared.subarray(0, length)]), 0, part.length + length);
    } catch (thrown) {
      this.break(thrown);
    }
    return !this.#isPaused;
  }

  #take(bytes: Buffer, from: number, to: number): void {
    let at = from;
    while (this.#body === undefined && at < to) {
      const head = readAnswerHead(bytes, at, to);
      if (head === undefined) {
        this.#part = Buffer.from(bytes.subarray(at, to));
        return;
      }
      if (head.status < 200) {
        this.#interim += 1;
        if (head.status === 101 || this.#interim > MAX_INTERIM)
          throw Object.assign(new Error('too many interim responses'), { code: 'HPE_INVALID' });
        at += head.octets;
        continue;
      }
      at += head.octets;
      this.#head = head;
      this.#call?.onHead(head);
      this.#body = bodyOf(head, this.#call?.isHead === true);
      if (this.#body === undefined) {
        this.#whole(at < to);
        return;
      }
    }
    this.#takeBody(bytes, at, to);
    this.#call?.onMoreAwaited();
  }

  #takeBody(bytes: Buffer, at: number, to: number): void {
    if (this.#body === undefined) return;
    const end = readBody(this.#body, bytes, at, to, this.#give);
    if (end >= 0) this.#whole(end < to);
  }

  readonly #give = (content: Buffer): void => {
    if (this.#call?.onContent(content) === false) this.#isPaused = true;
  };

  /** `hasMore`: octets follow the response, so the connection cannot be reused (SMG-23). */
  #whole(hasMore: boolean): void {
    const call = this.#call;
    if (call === undefined) return;
    const mayFollow = this.#head?.keepsAlive === true && this.#body !== 'to-end' && call.hasSentAll;
    this.#call = undefined;
    this.#body = undefined;
    this.#isPaused = false;
    this.served += 1;
    if (mayFollow && !hasMore && !this.#isSingle) this.#events.onFree(this);
    else this.destroy();
    call.onWhole();
  }
}
