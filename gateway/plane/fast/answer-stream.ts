// The answer on its way to a client of the fast plane: what comes in one turn leaves together.
// Text, an octet for each character: it dies young, where buffers of this size would keep the collector busy.
// One for each connection; written to by the request whose turn it is.
import type { Socket } from 'node:net';

/** Characters: with more than this nothing is waited for. */
const ENOUGH = 16 * 1_024;
/** Unlike queueMicrotask it makes no asynchronous resource for each use. */
const RESOLVED = Promise.resolve();
const CRLF = '\r\n';
const LAST_CHUNK = '0\r\n\r\n';

export class AnswerStream {
  readonly #socket: Socket;
  /** Called when the last octet of an answer has been handed to the system. */
  readonly #onWritten: (error?: Error | null) => void;
  readonly #flushLater: () => void;
  #isChunked = false;
  #isBare = false;
  #pending = '';
  #willFlush = false;

  constructor(socket: Socket, onWritten: () => void) {
    this.#socket = socket;
    // A connection that broke tells so when it has closed.
    this.#onWritten = (error) => {
      if (error == null) onWritten();
    };
    this.#flushLater = () => {
      this.#willFlush = false;
      this.#flush();
    };
  }

  /** `framing`: of the body behind it; `none`: whatever is written of a body goes to nobody. */
  head(text: string, framing: 'chunked' | 'sized' | 'none'): void {
    this.#isChunked = framing === 'chunked';
    this.#isBare = framing === 'none';
    const coding = this.#isChunked ? 'transfer-encoding: chunked\r\n\r\n' : CRLF;
    this.#append(text + coding);
  }

  /** False: no more before the connection has drained. */
  write(chunk: Buffer): boolean {
    const { length } = chunk;
    if (this.#isBare || length === 0) return true;
    const content = chunk.toString('latin1');
    return this.#append(this.#isChunked ? `${length.toString(16)}\r\n${content}\r\n` : content);
  }

  /** A complete body: `text` is written behind the head as UTF-8. */
  endWith(text: string): void {
    if (!this.#isBare) {
      if (Buffer.byteLength(text) === text.length) this.#pending += text;
      else {
        this.#flush();
        this.#socket.write(text, 'utf8');
      }
    }
    this.end();
  }

  end(): void {
    const socket = this.#socket;
    if (socket.writableEnded) return;
    if (this.#isChunked) this.#pending += LAST_CHUNK;
    const text = this.#pending;
    this.#pending = '';
    socket.write(text, 'latin1', this.#onWritten);
  }

  /** Cuts the connection behind what was written so far, so that it looks cut (FWD-17). */
  cut(): void {
    this.#flush();
    this.#socket.destroy();
  }

  /** Before the answer itself. */
  interim(text: string): void {
    this.#socket.write(text, 'latin1');
  }

  #append(text: string): boolean {
    this.#pending += text;
    if (this.#pending.length >= ENOUGH) return this.#flush();
    if (!this.#willFlush) {
      this.#willFlush = true;
      void RESOLVED.then(this.#flushLater);
    }
    return !this.#socket.writableNeedDrain;
  }

  #flush(): boolean {
    const text = this.#pending;
    if (text === '') return true;
    this.#pending = '';
    return this.#socket.writableEnded || this.#socket.write(text, 'latin1');
  }
}
