// The ledger read in pages, so that neither a hundred thousand records nor a slow store keeps the event loop from others.
// Behind the usage pages of usage.ts.
import { createTurns } from '../plan/in-slices.ts';
import type { LedgerStore, UsageFilter, UsageRecord } from '../policy/usage/ledger.ts';
import { startOfLast, usageRows } from '../policy/usage/rows.ts';
import type { UsageTally } from '../policy/usage/tally.ts';
import type { UsageWindow } from '../policy/usage/window.ts';

/** Few enough to be made into rows and JSON within a turn. */
export const RECORDS_PER_PAGE = 500;

export interface WholePage {
  readonly records: readonly UsageRecord[];
  readonly next: string | undefined;
}

/**
 * A page that ends with the last record of a consumer, so that a row has all of it. Only a consumer that fills a page by
 * itself goes on in the next one.
 */
export async function readWholeConsumers(
  { read }: Pick<LedgerStore, 'read'>,
  filter: UsageFilter,
  { after, limit }: { readonly after: string | undefined; readonly limit: number },
): Promise<WholePage> {
  const page = await read(filter, { after, limit });
  const end = startOfLast(page.records);
  if (page.next === undefined || end === 0) return page;
  // Only the store knows how its pages are named: asked for that many records, it names the one that begins there.
  return read(filter, { after, limit: end });
}

/** Everything that the filter lets pass is added to `tally`. */
export async function tallyAll(
  { read }: Pick<LedgerStore, 'read'>,
  filter: UsageFilter,
  window: UsageWindow,
  tally: UsageTally,
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
