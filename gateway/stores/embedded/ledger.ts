// The ledger in sundial.db, read and erased in pieces, so that no call blocks the database thread for long.
import { dayNumber } from '../../policy/usage/day.ts';
import type { LedgerStore } from '../../policy/usage/ledger.ts';
import type { CallThread } from '../store-port.ts';
import { dayNumbers, readPage } from '../usage-text.ts';
import type { createLedgerOperations } from './ledger-operations.ts';

/** Records per call: a few milliseconds, although a record may have hundreds of days. */
const MAX_AT_ONCE = 100;
/** Records per call if all their days are returned. */
const MAX_WHOLE_AT_ONCE = 20;

export function embeddedLedger(call: CallThread<ReturnType<typeof createLedgerOperations>>): LedgerStore {
  return {
    add: (batch) => call('addUsage', batch),
    read: async (filter, page) => {
      // Converted here, not in the thread: an error there would fail the whole batch, with other calls in it.
      const since = filter.since === undefined ? 0 : dayNumber(filter.since);
      return readPage(
        (after, most) => call('readUsage', filter, since, after, most),
        page,
        MAX_WHOLE_AT_ONCE,
      );
    },
    count: async (filter, days, page) => {
      const numbers = dayNumbers(days);
      return readPage((after, most) => call('countUsage', filter, numbers, after, most), page, MAX_AT_ONCE);
    },
    firstSeen: (subject) => call('firstUsage', subject),
    beganAt: (of) => call('usageBegan', of?.api, of?.version),
    unwatch: async () => {
      await call('unwatchUsage');
    },
    erase: async (consumer) => {
      let erased = 0;
      for (;;) {
        const count = await call('eraseUsage', consumer, MAX_AT_ONCE);
        erased += count;
        if (count < MAX_AT_ONCE) return erased;
      }
    },
    sweep: async (day) => {
      const before = dayNumber(day);
      let removed = 0;
      for (let after: number | undefined = 0; after !== undefined; ) {
        const swept: { removed: number; next: number | undefined } = await call(
          'sweepUsage',
          before,
          after,
          MAX_AT_ONCE,
        );
        removed += swept.removed;
        after = swept.next;
      }
      return removed;
    },
  };
}
