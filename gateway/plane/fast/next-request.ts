// What has come of the next request on a connection, until its head can be read.
// Kept for each connection by fast-connection.ts.

/** Octets that are read again because a head came in pieces; one in smaller pieces is for a parser that remembers its place. */
const MOST_REREAD = 1_024 * 1_024;

export class NextRequest {
  /** Since when it is waited for, or for its rest; monotonic milliseconds. */
  since = performance.now();
  #bytes: Buffer | undefined;
  #reread = 0;
  /** More has come than was read. */
  isUnread = false;

  /** Something of it has come. */
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

  /** All of it, to be read now; undefined where nothing was added. */
  take(): Buffer | undefined {
    if (!this.isUnread) return undefined;
    const bytes = this.#bytes;
    this.isUnread = false;
    this.#bytes = undefined;
    return bytes;
  }

  /** Its head has not come whole. */
  putBack(bytes: Buffer): void {
    this.#bytes = bytes;
  }
}

export function joined(before: Buffer | undefined, chunk: Buffer): Buffer {
  return before === undefined ? chunk : Buffer.concat([before, chunk]);
}
