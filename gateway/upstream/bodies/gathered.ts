// Bytes that come in pieces and are wanted whole.
// For bodies that are held on their way, in either direction.

export interface Gathered {
  /** Bytes beyond which nobody wants them. */
  readonly most: number;
  /** What has come so far stands in its first `length` bytes. */
  store: Buffer;
  length: number;
}

const NOTHING = Buffer.alloc(0);

export function startGathering(most: number): Gathered {
  return { most, store: NOTHING, length: 0 };
}

/**
 * Copied, except for a first chunk that may be all there is: however small the pieces are that come, they take no more room
 * than twice their bytes, and than the limit.
 */
export function gather(gathered: Gathered, chunk: Buffer): void {
  const length = gathered.length + chunk.length;
  if (gathered.length === 0) gathered.store = chunk;
  else {
    if (length > gathered.store.length) {
      const larger = Buffer.allocUnsafe(Math.max(length, Math.min(2 * length, gathered.most)));
      gathered.store.copy(larger, 0, 0, gathered.length);
      gathered.store = larger;
    }
    chunk.copy(gathered.store, gathered.length);
  }
  gathered.length = length;
}

export function contentOf({ store, length }: Gathered): Buffer {
  return store.subarray(0, length);
}
