// An in-memory connection for one request that Node's parser serves. The socket stays with the fast plane.
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import type { ClientConnection } from '../client-connection.ts';
import { methodOf } from './request-method.ts';

const HEAD_END = '\r\n\r\n';
/** Matches anywhere in the head, so that no way to split lines hides one of these fields. Browsers send the exception. */
const MORE_THAN_A_HEAD = /content-length|transfer-encoding|upgrade(?!-insecure-requests)/i;

/** Whether `bytes` are exactly one complete request without a body. False if uncertain. */
export function isOneMessage(bytes: Buffer): boolean {
  const method = methodOf(bytes);
  if (method === 'partial' || method === 'other') return false;
  const text = bytes.toString('latin1');
  const end = text.indexOf(HEAD_END);
  return end > 0 && end + HEAD_END.length === text.length && !MORE_THAN_A_HEAD.test(text);
}

/** Node's HTTP server uses it like a socket. */
export class MessageDuplex extends Duplex {
  /** The client of the real socket. */
  readonly known: ClientConnection;
  /** Node's TLS server reads the negotiated protocol. */
  readonly alpnProtocol = 'http/1.1';
  readonly #socket: Socket;
  readonly #onOver: (isLast: boolean) => void;
  #isOver = false;

  /** `onOver`: called once everything is written, unless the socket is destroyed. `isLast`: the connection closes. */
  constructor(socket: Socket, known: ClientConnection, head: Buffer, onOver: (isLast: boolean) => void) {
    super();
    this.#socket = socket;
    this.known = known;
    this.#onOver = onOver;
    // The close event of the socket reports errors. Node's server removes its own listener after the request.
    this.on('error', () => undefined);
    this.once('finish', () => this.destroy());
    this.push(head);
  }

  /** Octets that the system accepted, without those still buffered in the socket. */
  get bytesWritten(): number {
    const { bytesWritten, writableLength } = this.#socket;
    return bytesWritten - writableLength + this.writableLength;
  }

  /** Call after a complete response that keeps the connection open. */
  readonly onKept = (): void => {
    // Node ends the stream itself if the request or the response has `Connection: close`.
    if (this.writableEnded || this.destroyed) return;
    this.#over(false);
    this.destroy();
  };

  /** Node's server calls this after the last response of a connection. */
  destroySoon(): void {
    this.end();
  }

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    this.#socket.write(chunk, done);
  }

  override _writev(chunks: readonly { chunk: Buffer }[], done: (error?: Error | null) => void): void {
    this.#socket.cork();
    const last = chunks.length - 1;
    for (const [at, { chunk }] of chunks.entries()) this.#socket.write(chunk, at === last ? done : undefined);
    this.#socket.uncork();
  }

  override _final(done: () => void): void {
    this.#over(true);
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    if (!this.#isOver) this.#socket.destroy();
    done(error);
  }

  #over(isLast: boolean): void {
    this.#isOver = true;
    this.#onOver(isLast);
  }
}
