// Pages of the ledger out of pieces that a store answers quickly, so that nothing else waits long for it.
// Both stores read through it.
import type { MonotonicMs } from '../policy/contract.ts';
import type { PageAsked, UsageRecord } from '../policy/usage/ledger.ts';
import { readPlace, type UsagePlace, writePlace } from '../policy/usage/place.ts';

export interface UsageChunk<T = UsageRecord> {
  readonly records: readonly T[];
  /** Where the store stopped looking; undefined behind the last record. */
  readonly last: UsagePlace | undefined;
}

/** Whoever asks has a word in between: a page may end before it is full, and be empty. */
const WITHIN_MS = 1_000;

/**
 * `readChunk` returns at most `most` records behind `after`. Ends, full or not, with the first piece that comes after a second.
 * @throws RangeError when `after` is no place
 */
export async function readPage<T>(
  readChunk: (after: UsagePlace | undefined, most: number) => Promise<UsageChunk<T>>,
  { after, limit }: PageAsked,
  mostAtOnce: number,
  monotonic: () => MonotonicMs = () => performance.now(),
): Promise<{ readonly records: readonly T[]; readonly next: string | undefined }> {
  let place = after === undefined ? undefined : readPlace(after);
  if (after !== undefined && place === undefined) throw new RangeError('that is no place in the ledger');
  const records: T[] = [];
  const end = monotonic() + WITHIN_MS;
  for (;;) {
    const chunk = await readChunk(place, Math.min(mostAtOnce, limit - records.length));
    records.push(...chunk.records);
    place = chunk.last;
    if (place === undefined) return { records, next: undefined };
    if (records.length >= limit || monotonic() > end) return { records, next: writePlace(place) };
  }
}
