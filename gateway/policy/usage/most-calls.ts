// The rows with the most calls, over rows that come page by page: however many consumers there are, so many are kept.
// Behind the lists of callers that are shown with the busiest first.
import { type OperationUse, sum, type UsageRow } from './rows.ts';

export interface MostCalls {
  /** Rows in the order of api, version, consumer; a consumer may go on in the next rows. */
  readonly add: (rows: readonly UsageRow[]) => void;
  /** The most calls first. */
  readonly rows: () => readonly UsageRow[];
}

export function createMostCalls(most: number): MostCalls {
  let kept: UsageRow[] = [];
  /** Of the consumer that came last, of whom the next rows may have more: one for each way of being known. */
  let open: UsageRow[] = [];
  const cut = (rows: readonly UsageRow[]) => rows.toSorted(byCalls).slice(0, most);
  const settle = (): void => {
    kept.push(...open);
    open = [];
    // Seldom, so that sorting costs little for each row.
    if (kept.length >= 2 * most) kept = cut(kept);
  };
  return {
    add: (rows) => {
      for (const row of rows) {
        if (open[0] !== undefined && !isOfSameConsumer(open[0], row)) settle();
        const known = open.findIndex(({ via }) => via === row.via);
        const before = open[known];
        if (before === undefined) open.push(row);
        else open[known] = together(before, row);
      }
    },
    rows: () => cut([...kept, ...open]),
  };
}

function byCalls(one: UsageRow, other: UsageRow): number {
  return other.calls - one.calls;
}

function isOfSameConsumer(one: UsageRow, other: UsageRow): boolean {
  return one.consumer === other.consumer && one.version === other.version && one.api === other.api;
}

function together(one: UsageRow, other: UsageRow): UsageRow {
  const operations: readonly OperationUse[] = [...one.operations, ...other.operations];
  return { ...one, ...sum(one, other), operations };
}
