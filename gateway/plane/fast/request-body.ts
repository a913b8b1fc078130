// The body of a request on the fast plane: decoded while it arrives, with backpressure.
import { Readable } from 'node:stream';
import type { RequestRefusal } from '../../exchange/directive.ts';
import { ChunkedBody, ChunkedBodyError } from './chunked-body.ts';

/** Octets. The limits of Node's parser. */
const MAX_FRAMING = { extensions: 16 * 1_024, trailers: 16 * 1_024 };

/** The same ratio as on the general plane (SMG-12). */
const FRAMING_EACH = 16;
const FRAMING_AT_FIRST = 64 * 1_024;

export class RequestBody extends Readable {
  isWhole = false;
  /** Octets since the last read of this counter. */
  arrived = 0;
  readonly #chunked: ChunkedBody | undefined;
  readonly #onWanted: () => void;
  #left: number;

  /** `length`: octets. -1: chunked. `onWanted`: called when the body has room for more. */
  constructor(length: number, onWanted: () => void) {
    super();
    this.#left = length;
    this.#chunked = length < 0 ? new ChunkedBody(MAX_FRAMING) : undefined;
    this.#onWanted = onWanted;
  }

  override _read(): void {
    this.#onWanted();
  }

  /** Framing far outweighs the content (SMG-12). */
  get isPadded(): boolean {
    const { framing = 0, content = 0 } = this.#chunked ?? {};
    return framing > FRAMING_AT_FIRST + FRAMING_EACH * content;
  }

  /** Reading pauses until the receiver drains. */
  get isFull(): boolean {
    return this.readableLength >= this.readableHighWaterMark;
  }

  /**
   * Consumes the octets of this body from `at` on. Returns the offset after them.
   * @throws ChunkedBodyError
   */
  receive(bytes: Buffer, at: number): number {
    const end = this.#chunked === undefined ? this.#takeSized(bytes, at) : this.#takeChunked(bytes, at);
    if (end < 0) return bytes.length;
    this.isWhole = true;
    this.push(null);
    return end;
  }

  #takeSized(bytes: Buffer, at: number): number {
    const end = Math.min(bytes.length, at + this.#left);
    this.#give(bytes, at, end);
    this.#left -= end - at;
    return this.#left === 0 ? end : -1;
  }

  #takeChunked(bytes: Buffer, at: number): number {
    return this.#chunked?.read(bytes, at, bytes.length, (start, end) => this.#give(bytes, start, end)) ?? -1;
  }

  #give(bytes: Buffer, start: number, end: number): void {
    if (start === end) return;
    this.arrived += end - start;
    this.push(bytes.subarray(start, end));
  }
}

const MESSAGES = {
  malformed: [400, 'The request is malformed.'],
  extensions_too_large: [413, 'The chunk extensions are too large.'],
  trailers_too_large: [431, 'The header section is too large.'],
} as const satisfies Record<ChunkedBodyError['kind'], readonly [number, string]>;

/** Converts a `ChunkedBodyError` to a refusal. Throws other errors again. */
export function framingRefusal(thrown: unknown): RequestRefusal {
  if (!(thrown instanceof ChunkedBodyError)) throw thrown;
  const [status, message] = MESSAGES[thrown.kind];
  return { reason: 'request_malformed', status, message };
}
