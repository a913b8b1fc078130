// The ledger read in pages, so that neither a hundred thousand records nor a slow store keeps the event loop from others.
// Behind the usage pages of usage.ts.
import { createTurns } from '../plan/in-slices.ts';
import type { LedgerStore, PageAsked, UsageFilter, UsageSubject } from '../policy/usage/ledger.ts';
import { placeOf, writePlace } from '../policy/usage/place.ts';
import { startOfLast, usageRows } from '../policy/usage/rows.ts';
import type { VersionTallies } from '../policy/usage/version-tallies.ts';
import type { UsageWindow } from '../policy/usage/window.ts';

/** Few enough to be made into rows and JSON within a turn. */
export const RECORDS_PER_PAGE = 500;

/**
 * A page that ends with the last record of a consumer, so that a row has all of it. Only a consumer that fills a page by
 * itself goes on in the next one.
 */
export async function wholeConsumers<T extends UsageSubject>(
  read: (page: PageAsked) => Promise<Page<T>>,
  asked: PageAsked,
): Promise<Page<T>> {
  const page = await read(asked);
  const records = page.records.slice(0, startOfLast(page.records));
  const last = records.at(-1);
  return page.next === undefined || last === undefined ? page : { records, next: writePlace(placeOf(last)) };
}

interface Page<T> {
  readonly records: readonly T[];
  readonly next: string | undefined;
}

/** Everything that the filter lets pass is added to `tally`. */
export async function tallyAll(
  { count }: Pick<LedgerStore, 'count'>,
  filter: Omit<UsageFilter, 'since'>,
  window: UsageWindow,
  tally: VersionTallies,
): Promise<void> {
  const turn = createTurns();
  let after: string | undefined;
  do {
    const page = await count(filter, window, { after, limit: RECORDS_PER_PAGE });
    tally.add(usageRows(page.records));
    after = page.next;
    await turn();
  } while (after !== undefined);
}
