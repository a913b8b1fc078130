// The ledger read in pages, so that neither a hundred thousand records nor a slow store keeps the event loop from others.
// Behind the usage pages of usage.ts.
import { createTurns } from '../plan/in-slices.ts';
import type { LedgerStore, UsageFilter, UsagePage } from '../policy/usage/ledger.ts';
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
export async function readWholeConsumers(
  { read }: Pick<LedgerStore, 'read'>,
  filter: UsageFilter,
  { after, limit }: { readonly after: string | undefined; readonly limit: number },
): Promise<UsagePage> {
  const page = await read(filter, { after, limit });
  const records = page.records.slice(0, startOfLast(page.records));
  const last = records.at(-1);
  return page.next === undefined || last === undefined ? page : { records, next: writePlace(placeOf(last)) };
}

/** Everything that the filter lets pass is added to `tally`. */
export async function tallyAll(
  { read }: Pick<LedgerStore, 'read'>,
  filter: UsageFilter,
  window: UsageWindow,
  tally: VersionTallies,
): Promise<void> {
  const turn = createTurns();
  let after: string | undefined;
  do {
    const page = await read(filter, { after, limit: RECORDS_PER_PAGE });
    tally.add(usageRows(page.records, window));
    after = page.next;
    await turn();
  } while (after !== undefined);
}
