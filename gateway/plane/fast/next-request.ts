// Collects the octets of the next request of a connection until its head is complete.
import { mayBeRequest } from './request-method.ts';

/** Octets parsed again, because each piece of a head is parsed with all earlier ones. Node's parser resumes instead. */
const MAX_REREAD = 1_024 * 1_024;
/** Octets of pipelined requests that wait for the current response. */
const MAX_PIPELINED = 64 * 1_024;

export class NextRequest {
  /** Arrival of the first octet, or start of the wait for it. Monotonic milliseconds. */
  since = performance.now();
  #bytes: Buffer | undefined;
  /** Octets after the current request. */
  #pipelined: Buffer | undefined;
  #reread = 0;
  /** Octets have arrived since the last `take`. */
  isUnread = false;

  get hasBegun(): boolean {
    return this.#bytes !== undefined;
  }

  get isInSmallPieces(): boolean {
    return this.#reread > MAX_REREAD;
  }

  get hasPipelined(): boolean {
    return this.#pipelined !== undefined;
  }

  get hasTooMuchPipelined(): boolean {
    return this.#pipelined !== undefined && this.#pipelined.length > MAX_PIPELINED;
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

  /** Buffers octets after the current request. If they do not begin a request, returns and drops all of them. */
  addPipelined(chunk: Buffer): Buffer | undefined {
    this.#pipelined = joined(this.#pipelined, chunk);
    return mayBeRequest(this.#pipelined) ? undefined : this.takePipelined();
  }

  takePipelined(): Buffer | undefined {
    const pipelined = this.#pipelined;
    this.#pipelined = undefined;
    return pipelined;
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
