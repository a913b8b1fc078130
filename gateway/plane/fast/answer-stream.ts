// Writes a response to a client of the fast plane. Collects the octets of one event loop turn into one write.
import type { Socket } from 'node:net';
import { writeStage } from './request-stages.ts';

/** Characters. More than this is written without waiting for the end of the turn. */
const ENOUGH = 16 * 1_024;
const CRLF = '\r\n';
const LAST_CHUNK = '0\r\n\r\n';

export class AnswerStream {
  readonly #socket: Socket;
  readonly #onWritten: () => void;
  /** Callback of a write that the system did not accept at once. */
  readonly #onTaken: (error?: Error | null) => void;
  #isChunked = false;
  #isBare = false;
  #pending = '';
  #isQueued = false;
  /** The response ends with the pending text. */
  #isEnding = false;

  /** `onWritten`: called when the system has accepted the last octet of a response. */
  constructor(socket: Socket, onWritten: () => void) {
    this.#socket = socket;
    this.#onWritten = onWritten;
    // A broken connection is reported by its close event.
    this.#onTaken = (error) => {
      if (error == null) onWritten();
    };
  }

  /** `none`: later body bytes are discarded. */
  head(text: string, framing: 'chunked' | 'sized' | 'none'): void {
    this.#isChunked = framing === 'chunked';
    this.#isBare = framing === 'none';
    const coding = this.#isChunked ? 'transfer-encoding: chunked\r\n\r\n' : CRLF;
    this.#append(text + coding);
  }

  /** False: wait for `drain` of the socket. */
  write(chunk: Buffer): boolean {
    const { length } = chunk;
    if (this.#isBare || length === 0) return true;
    const content = chunk.toString('latin1');
    return this.#append(this.#isChunked ? `${length.toString(16)}\r\n${content}\r\n` : content);
  }

  /** Writes the complete body as UTF-8. */
  endWith(text: string): void {
    if (!this.#isBare) this.#pending += Buffer.from(text).toString('latin1');
    this.end();
  }

  end(): void {
    if (this.#isChunked) this.#pending += LAST_CHUNK;
    this.#isEnding = true;
    this.#queue();
  }

  /** Destroys the connection after the octets written so far, so that the response is visibly truncated (FWD-17). */
  cut(): void {
    this.#isEnding = false;
    this.#flush();
    this.#socket.destroy();
  }

  /** Writes a 1xx response before the final response. */
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
    // The close event reports the failure.
    if (socket.destroyed || socket.errored !== null) return;
    // A callback per write would cost an extra event loop turn.
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
