// Collects the octets of the next request of a connection until its head is complete.
import { mayBeRequest } from './request-method.ts';

/** Octets. Each new piece of a head is parsed with all earlier ones. After so many, Node's parser takes over: it resumes. */
const MAX_REREAD = 1_024 * 1_024;
/** Octets of pipelined requests that wait for the current response. */
const MAX_KEPT = 64 * 1_024;

export class NextRequest {
  /** Arrival of the first octet, or start of the wait for it. Monotonic milliseconds. */
  since = performance.now();
  #bytes: Buffer | undefined;
  /** Octets after the current request. */
  #kept: Buffer | undefined;
  #reread = 0;
  /** Octets have arrived since the last `take`. */
  isUnread = false;

  get hasBegun(): boolean {
    return this.#bytes !== undefined;
  }

  get isInSmallPieces(): boolean {
    return this.#reread > MAX_REREAD;
  }

  get keepsSome(): boolean {
    return this.#kept !== undefined;
  }

  get keepsTooMuch(): boolean {
    return this.#kept !== undefined && this.#kept.length > MAX_KEPT;
  }

  /** Returns whether these are the first octets since the last `take`. */
  add(chunk: Buffer): boolean {
    if (this.#bytes === undefined) {
      this.since = performance.now();
      this.#reread = 0;
    } else this.#reread += this.#bytes.length + chunk.length;
    this.#bytes = joined(this.#bytes, chunk);
    const isFirst = !this.isUnread;
    this.isUnread = true;
    return isFirst;
  }

  /** Buffers octets after the current request. If they begin no request, returns and drops all of them. */
  keep(chunk: Buffer): Buffer | undefined {
    this.#kept = joined(this.#kept, chunk);
    return mayBeRequest(this.#kept) ? undefined : this.takeKept();
  }

  takeKept(): Buffer | undefined {
    const kept = this.#kept;
    this.#kept = undefined;
    return kept;
  }

  /** Returns and drops all octets. Undefined: none arrived since the last call. */
  take(): Buffer | undefined {
    if (!this.isUnread) return undefined;
    const bytes = this.#bytes;
    this.isUnread = false;
    this.#bytes = undefined;
    return bytes;
  }

  putBack(bytes: Buffer): void {
    this.#bytes = bytes;
  }
}

function joined(before: Buffer | undefined, chunk: Buffer): Buffer {
  return before === undefined ? chunk : Buffer.concat([before, chunk]);
}
