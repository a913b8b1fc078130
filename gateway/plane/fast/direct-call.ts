// One call to one target over a connection of the fast plane: what is written of the request, and what becomes of the answer.

import type { Socket } from 'node:net';
import type { AnswerHeaders } from '../../exchange/answer-headers.ts';
import { Fault, type FaultCode } from '../../exchange/directive.ts';
import type { CallOptions } from '../../upstream/call.ts';
import type { Deadline, StartDeadline } from '../../upstream/deadlines.ts';
import { errorCode } from '../../upstream/fault-mapping.ts';
import { cleanAnswer, hasNoContent } from '../../upstream/response-headers.ts';
import { isRepeatable } from '../../upstream/retry.ts';
import type { AnswerHead } from './answer-head.ts';
import { writeStage } from './request-stages.ts';
import { lengthOf, streamBody } from './request-stream.ts';
import { requestText } from './request-text.ts';

/** Errors of a connection that has ended. */
const ENDED: ReadonlySet<string | undefined> = new Set(['ECONNRESET', 'EPIPE']);

/** What is known of a connection that broke under a call. */
export interface Break {
  readonly cause: unknown;
  readonly isOpen: boolean;
  readonly hasRead: boolean;
  readonly served: number;
}

export interface Carrying {
  readonly socket: Socket;
  /** When something came on it last, monotonic milliseconds. */
  readonly readAt: number;
  readonly resume: () => void;
  /** Destroys the connection and reports `cause` to the call. */
  readonly break: (cause: unknown) => void;
  readonly destroy: () => void;
}

export class DirectCall {
  connection: Carrying | undefined;
  /** The request has no body, or all of it is written. */
  hasSentAll = false;
  readonly isHead: boolean;
  readonly isRepeatable: boolean;
  readonly #options: CallOptions;
  readonly #startDeadline: StartDeadline;
  #deadline: Deadline | undefined;
  /** Monotonic milliseconds: since when the upstream is waited for. */
  #since = 0;
  /** Something of the request may have left. */
  isWritten = false;
  /** The head of a request that is written soon, with its body. */
  #unwritten = '';
  #isHeld = false;
  #isBare = false;
  #over = false;

  constructor(options: CallOptions, startDeadline: StartDeadline) {
    const { method, body } = options.request;
    this.#options = options;
    this.#startDeadline = startDeadline;
    this.isHead = method === 'HEAD';
    this.isRepeatable = isRepeatable(method, body !== null);
  }

  get isOver(): boolean {
    return this.#over;
  }

  /** Writes the request; @throws Error `ERR_INVALID_CHAR`, with nothing written */
  start({ socket }: Carrying, host: string, isLast: boolean): void {
    const { request } = this.#options;
    const { body } = request;
    const length = lengthOf(request);
    const text = requestText(request, { host, length, isLast });
    if (body === null || Buffer.isBuffer(body)) {
      this.hasSentAll = true;
      this.#unwritten = text;
      writeStage.schedule(writeCall, this);
    } else {
      this.#onSending();
      streamBody(body, socket, text, length ?? 0, {
        isOver: () => this.#over,
        onFailed: (cause) => this.connection?.break(cause),
        onWhole: () => {
          this.hasSentAll = true;
          this.#since = performance.now();
        },
      });
    }
    this.#deadline = this.#wait(request.headersTimeout, 'upstream_headers_timeout');
  }

  writeNow(): void {
    const { body } = this.#options.request;
    const socket = this.connection?.socket;
    // The call may have been given up since, or moved to another connection.
    if (this.#over || socket === undefined || this.#unwritten === '') return;
    this.#onSending();
    socket.write(this.#unwritten, 'latin1');
    this.#unwritten = '';
    if (Buffer.isBuffer(body) && body.length > 0) socket.write(body);
  }

  takeBack(): void {
    this.#unwritten = '';
    this.#deadline?.stop();
  }

  #onSending(): void {
    this.isWritten = true;
    this.#options.onSending();
  }

  /** An interim answer is not told. @throws Fault for what no client may be shown */
  onHead({ status, headers }: AnswerHead): void {
    if (this.#over) return;
    const { upstream, onAnswered, delivery } = this.#options;
    this.#deadline?.stop();
    this.#deadline = undefined;
    this.#isBare = hasNoContent(status);
    const lines = cleanAnswer(status, headers as AnswerHeaders, upstream);
    onAnswered();
    delivery.head(status, lines);
  }

  /** More is to come than what was read with the head. */
  onMoreAwaited(): void {
    this.#deadline ??= this.#wait(this.#options.request.bodyTimeout, 'upstream_idle_timeout');
  }

  /** False: no more before the connection is resumed. `chunk` is lent: the next read goes to the same place. */
  onContent(chunk: Buffer): boolean {
    if (this.#over || this.#isBare) return true;
    this.#since = this.connection?.readAt ?? this.#since;
    if (this.#options.delivery.write(chunk)) return !this.#isHeld;
    if (!this.#isHeld) {
      this.#isHeld = true;
      this.#options.onceDrained(() => {
        this.#isHeld = false;
        this.#since = performance.now();
        this.connection?.resume();
      });
    }
    return false;
  }

  onWhole(): void {
    this.#deadline?.stop();
    if (this.#over) return;
    try {
      this.#options.delivery.end();
    } catch (thrown) {
      // A held head that cannot be written.
      this.onBroken({ cause: thrown, isOpen: true, hasRead: true, served: 0 });
      return;
    }
    this.#over = true;
    this.#options.onEnd();
  }

  onBroken({ cause, isOpen, hasRead, served }: Break): void {
    this.#deadline?.stop();
    if (this.#over) return;
    this.#over = true;
    const unanswered = isOpen && !hasRead && ENDED.has(errorCode(cause));
    this.#options.onFailure({ cause, unsent: !isOpen, unanswered, stale: unanswered && served > 0 });
  }

  /** The upstream then never sees the request as complete. */
  giveUp(): void {
    this.#over = true;
    this.#deadline?.stop();
    this.connection?.destroy();
  }

  /** Breaks the connection where the upstream has been waited for so long. `ms`: milliseconds. */
  #wait(ms: number, code: FaultCode, left = ms): Deadline {
    const deadline = this.#startDeadline(left, () => {
      const waited = performance.now() - this.#since;
      // What the client holds up is not the upstream's doing.
      const isOthers = this.#isHeld || (code === 'upstream_headers_timeout' && !this.hasSentAll);
      if (isOthers || waited < ms) this.#deadline = this.#wait(ms, code, isOthers ? ms : ms - waited);
      else this.connection?.break(new Fault(code, { service: this.#options.upstream.name, timeoutMs: ms }));
    });
    if (left === ms) this.#since = deadline.at - ms;
    return deadline;
  }
}

function writeCall(call: DirectCall): void {
  call.writeNow();
}
