// Reads the ledger in pages, so that 100,000 records or a slow store do not block the event loop.

import { type EpochMs, type MonotonicMs, StoreUnavailable } from '../policy/contract.ts';
import type { UsageSummary } from '../policy/lifecycle/retire-when.ts';
import {
  type LedgerStore,
  type PageRequest,
  placeOf,
  type UsageFilter,
  type UsageSubject,
  type UsageVersion,
  writePlace,
} from '../policy/usage/ledger.ts';
import { startOfLast, usageRows } from '../policy/usage/rows.ts';
import { createVersionTallies, type VersionTallies } from '../policy/usage/version-tallies.ts';
import { completeSince, daysBefore, type UsageWindow, usageWindow } from '../policy/usage/window.ts';
import { createSlices } from '../system/time-slices.ts';

/** Few enough to become rows and JSON within one turn of the event loop. */
export const RECORDS_PER_PAGE = 500;

/**
 * Ends a page with the last record of a consumer, so that a row has all of it.
 * Only a consumer that fills a whole page continues on the next page.
 */
export async function wholeConsumers<T extends UsageSubject>(
  read: (page: PageRequest) => Promise<RecordsPage<T>>,
  range: PageRequest,
): Promise<RecordsPage<T>> {
  const page = await read(range);
  const records = page.records.slice(0, startOfLast(page.records));
  const last = records.at(-1);
  return page.next === undefined || last === undefined ? page : { records, next: writePlace(placeOf(last)) };
}

interface RecordsPage<T> {
  readonly records: readonly T[];
  readonly next: string | undefined;
}

/** The read exceeded its time limit. */
export class TooSlow extends StoreUnavailable {}

type Readable = Pick<LedgerStore, 'read' | 'count' | 'beganAt'>;

/** Rejects reads after the time limit: each read may be fast enough, and all together too slow. */
export function boundedReads(withinMs: number, ledger: Readable, monotonic: () => MonotonicMs): Readable {
  const end = monotonic() + withinMs;
  const ask =
    <P extends readonly unknown[], A>(question: (...given: P) => Promise<A>) =>
    (...given: P): Promise<A> =>
      monotonic() > end ? Promise.reject(new TooSlow('the read took too long')) : question(...given);
  return { read: ask(ledger.read), count: ask(ledger.count), beganAt: ask(ledger.beganAt) };
}

export async function tallyAll(
  { count }: Pick<LedgerStore, 'count'>,
  filter: Omit<UsageFilter, 'since'>,
  window: UsageWindow,
  tally: Pick<VersionTallies, 'add'>,
): Promise<void> {
  const nextSlice = createSlices();
  let after: string | undefined;
  do {
    const page = await count(filter, window, { after, limit: RECORDS_PER_PAGE });
    tally.add(usageRows(page.records));
    after = page.next;
    await nextSlice();
  } while (after !== undefined);
}

/** Usage of the last `days` days. `kept`: as in `completeSince`. Rejects with `StoreUnavailable`. */
export async function usageSummary(
  ledger: Pick<LedgerStore, 'count' | 'beganAt'>,
  version: UsageVersion,
  days: number,
  now: EpochMs,
  kept: EpochMs | undefined,
): Promise<UsageSummary> {
  const window = usageWindow(now, daysBefore(now, days));
  const tallies = createVersionTallies();
  await tallyAll(ledger, version, window, tallies);
  const [counted = { consumers: 0, calls: 0 }] = tallies.versions();
  const since = completeSince(await ledger.beganAt(version), kept);
  return { consumers: counted.consumers, calls: counted.calls, days, since };
}
