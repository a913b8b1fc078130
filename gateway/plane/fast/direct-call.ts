// One call to a target over a connection of the fast plane: writes the request and reads the response.

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

/** Error codes of a closed connection. */
const ENDED: ReadonlySet<string | undefined> = new Set(['ECONNRESET', 'EPIPE']);

/** A connection that broke during a call. */
export interface Break {
  readonly cause: unknown;
  readonly isOpen: boolean;
  readonly hasRead: boolean;
  readonly served: number;
}

export interface Carrying {
  readonly socket: Socket;
  /** Time of the last received octet, monotonic milliseconds. */
  readonly readAt: number;
  readonly resume: () => void;
  /** Destroys the connection and reports `cause` to the call. */
  readonly break: (cause: unknown) => void;
  readonly destroy: () => void;
}

export class DirectCall {
  connection: Carrying | undefined;
  /** True once the whole body is written, or if there is none. */
  hasSentAll = false;
  readonly isHead: boolean;
  readonly isRepeatable: boolean;
  readonly #options: CallOptions;
  readonly #startDeadline: StartDeadline;
  #deadline: Deadline | undefined;
  /** Start of the wait for the upstream, monotonic milliseconds. */
  #since = 0;
  /** Part of the request may have been sent. */
  isWritten = false;
  /** The head, until it is written together with the start of the body. */
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

  /** Writes the request. @throws Error `ERR_INVALID_CHAR` before anything is written */
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
    // Meanwhile the call may have been cancelled, or moved to another connection.
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

  /** Ignores interim responses. @throws Fault for a response that must not reach the client */
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

  /** The body continues after the octets that arrived with the head. */
  onMoreAwaited(): void {
    this.#deadline ??= this.#wait(this.#options.request.bodyTimeout, 'upstream_idle_timeout');
  }

  /** False: pause reading until `resume`. `chunk` is only valid during this call: the next read reuses its memory. */
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
      // The delayed head has an invalid value.
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

  /** Cancels the call, so that the upstream never sees a complete request. */
  giveUp(): void {
    this.#over = true;
    this.#deadline?.stop();
    this.connection?.destroy();
  }

  /** Breaks the connection if the upstream is silent for `ms` milliseconds. */
  #wait(ms: number, code: FaultCode, left = ms): Deadline {
    const deadline = this.#startDeadline(left, () => {
      const waited = performance.now() - this.#since;
      // Time in which the client blocks the transfer does not count against the upstream.
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
