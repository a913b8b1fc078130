// The answer on its way to a client of the fast plane: what comes in one turn leaves together.
import type { Socket } from 'node:net';
import { writeStage } from './request-stages.ts';

/** Characters: with more than this nothing is waited for. */
const ENOUGH = 16 * 1_024;
const CRLF = '\r\n';
const LAST_CHUNK = '0\r\n\r\n';

export class AnswerStream {
  readonly #socket: Socket;
  readonly #onWritten: () => void;
  /** Of a write that the system did not take at once. */
  readonly #onTaken: (error?: Error | null) => void;
  #isChunked = false;
  #isBare = false;
  #pending = '';
  #isQueued = false;
  /** An answer ends with what is pending. */
  #isEnding = false;

  /** `onWritten`: called when the last octet of an answer has been handed to the system. */
  constructor(socket: Socket, onWritten: () => void) {
    this.#socket = socket;
    this.#onWritten = onWritten;
    // A connection that broke tells so when it has closed.
    this.#onTaken = (error) => {
      if (error == null) onWritten();
    };
  }

  /** `framing`: of the body that follows; `none`: body bytes are discarded. */
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
    if (!this.#isBare) this.#pending += Buffer.from(text).toString('latin1');
    this.end();
  }

  end(): void {
    if (this.#isChunked) this.#pending += LAST_CHUNK;
    this.#isEnding = true;
    this.#queue();
  }

  /** Cuts the connection behind what was written so far, so that it looks cut (FWD-17). */
  cut(): void {
    this.#isEnding = false;
    this.#flush();
    this.#socket.destroy();
  }

  /** Before the answer itself. */
  interim(text: string): void {
    this.#socket.write(text, 'latin1');
  }

  writeNow(): void {
    this.#isQueued = false;
    if (!this.#isEnding) {
      this.#flush();
      return;
    }
    const socket = this.#socket;
    this.#isEnding = false;
    this.#flush();
    // Its close tells of it.
    if (socket.destroyed || socket.errored !== null) return;
    // A callback for each write would cost a turn of its own.
    if (socket.writableLength > 0) socket.write('', 'latin1', this.#onTaken);
    else this.#onWritten();
  }

  #append(text: string): boolean {
    this.#pending += text;
    if (this.#pending.length >= ENOUGH) return this.#flush();
    this.#queue();
    return !this.#socket.writableNeedDrain;
  }

  #queue(): void {
    if (this.#isQueued) return;
    this.#isQueued = true;
    writeStage.schedule(writeAnswer, this);
  }

  #flush(): boolean {
    const text = this.#pending;
    if (text === '') return true;
    this.#pending = '';
    return this.#socket.writableEnded || this.#socket.write(text, 'latin1');
  }
}

function writeAnswer(answer: AnswerStream): void {
  answer.writeNow();
}
