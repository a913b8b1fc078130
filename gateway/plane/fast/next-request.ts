// The bytes of a connection's next request, collected until its head is complete.

/** Octets. A head in pieces is read from its start for each piece. Beyond this, Node's parser takes it, which keeps its position. */
const MOST_REREAD = 1_024 * 1_024;

export class NextRequest {
  /** When its first octet came, or when the wait for it began; monotonic milliseconds. */
  since = performance.now();
  #bytes: Buffer | undefined;
  #reread = 0;
  /** Octets have come since the last `take`. */
  isUnread = false;

  get hasBegun(): boolean {
    return this.#bytes !== undefined;
  }

  get isInSmallPieces(): boolean {
    return this.#reread > MOST_REREAD;
  }

  add(chunk: Buffer): void {
    if (this.#bytes === undefined) {
      this.since = performance.now();
      this.#reread = 0;
    } else this.#reread += this.#bytes.length + chunk.length;
    this.#bytes = joined(this.#bytes, chunk);
    this.isUnread = true;
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

export function joined(before: Buffer | undefined, chunk: Buffer): Buffer {
  return before === undefined ? chunk : Buffer.concat([before, chunk]);
}
