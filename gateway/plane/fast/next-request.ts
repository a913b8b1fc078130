// The bytes of a connection's next request, collected until its head is complete.
import { mayBeRequest } from './request-method.ts';

/** Octets. A head in pieces is read from its start for each piece. Beyond this, Node's parser takes it, which keeps its position. */
const MOST_REREAD = 1_024 * 1_024;
/** Octets of further requests that wait for the end of an answer. */
const MOST_KEPT = 64 * 1_024;

export class NextRequest {
  /** When its first octet came, or when the wait for it began; monotonic milliseconds. */
  since = performance.now();
  #bytes: Buffer | undefined;
  /** Came behind the request that is under way. */
  #kept: Buffer | undefined;
  #reread = 0;
  /** Octets have come since the last `take`. */
  isUnread = false;

  get hasBegun(): boolean {
    return this.#bytes !== undefined;
  }

  get isInSmallPieces(): boolean {
    return this.#reread > MOST_REREAD;
  }

  get keepsSome(): boolean {
    return this.#kept !== undefined;
  }

  get keepsTooMuch(): boolean {
    return this.#kept !== undefined && this.#kept.length > MOST_KEPT;
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

  /** Keeps what came behind the request under way. Returns all of that if it begins no request, and forgets it. */
  keep(chunk: Buffer): Buffer | undefined {
    this.#kept = joined(this.#kept, chunk);
    return mayBeRequest(this.#kept) ? undefined : this.takeKept();
  }

  takeKept(): Buffer | undefined {
    const kept = this.#kept;
    this.#kept = undefined;
    return kept;
  }

  /** Returns all octets and forgets them; undefined if none came since the last call. */
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
