// A connection in memory for one request that only Node's parser reads. The socket stays with the fast plane.
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import type { ClientConnection } from '../client-connection.ts';
import { methodOf } from './request-method.ts';

const HEAD_END = '\r\n\r\n';
/** Looked for anywhere in a head: however its lines are read, none of these fields is overlooked. Browsers send the exception. */
const MORE_THAN_A_HEAD = /content-length|transfer-encoding|upgrade(?!-insecure-requests)/i;

/** Whether `bytes` are one whole request without a body, and nothing else. In doubt they are not. */
export function isOneMessage(bytes: Buffer): boolean {
  const method = methodOf(bytes);
  if (method === 'partial' || method === 'other') return false;
  const text = bytes.toString('latin1');
  const end = text.indexOf(HEAD_END);
  return end > 0 && end + HEAD_END.length === text.length && !MORE_THAN_A_HEAD.test(text);
}

/** Node's HTTP server takes it as it takes a socket. */
export class MessageDuplex extends Duplex {
  /** What the client of the socket has shown. */
  readonly known: ClientConnection;
  /** Node's server for TLS asks which protocol was agreed on. */
  readonly alpnProtocol = 'http/1.1';
  readonly #socket: Socket;
  readonly #onOver: (isLast: boolean) => void;
  #isOver = false;

  /** `onOver`: called once, unless the socket is destroyed: everything is written. `isLast`: the connection ends. */
  constructor(socket: Socket, known: ClientConnection, head: Buffer, onOver: (isLast: boolean) => void) {
    super();
    this.#socket = socket;
    this.known = known;
    this.#onOver = onOver;
    // The close of the socket tells of it, and Node's server takes its own listener away when it is done.
    this.on('error', () => undefined);
    this.once('finish', () => this.destroy());
    this.push(head);
  }

  /** Without `writableLength`: what the client's side has taken of the socket. */
  get bytesWritten(): number {
    const { bytesWritten, writableLength } = this.#socket;
    return bytesWritten - writableLength + this.writableLength;
  }

  /** The answer was written whole and does not end the connection. */
  readonly onKept = (): void => {
    // Node ends it itself where a field of the request or of the answer says close.
    if (this.writableEnded || this.destroyed) return;
    this.#over(false);
    this.destroy();
  };

  /** What Node's server calls behind the last answer of a connection. */
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
