// Groups ledger records into rows, one per consumer of a version and kind of credential.
import type { EpochMs } from '../contract.ts';
import type { CountedDays, UsageCount, UsageRecord, UsageSubject, VersionConsumer } from './ledger.ts';
import type { Trend } from './window.ts';

/** Calls in the counted period. */
export interface Counted {
  readonly calls: number;
  readonly trend: Trend;
  /** Over the whole time that the ledger remembers. */
  readonly firstAt: EpochMs;
  readonly lastAt: EpochMs;
}

interface OperationUse extends Counted {
  readonly operation: string | undefined;
  readonly agents: readonly string[];
}

export interface UsageRow extends Counted, VersionConsumer, Pick<UsageSubject, 'via'> {
  readonly operations: readonly OperationUse[];
}

/** Consumers without a call in the counted period have no row. */
export function usageRows(records: readonly UsageCount[]): readonly UsageRow[] {
  const rows: { -readonly [K in keyof UsageRow]: UsageRow[K] }[] = [];
  for (const record of records) {
    if (record.calls === 0) continue;
    const use = useOf(record);
    // Records of one consumer may alternate between kinds of credential. No other consumer is between them.
    const known = rows.findLast((row) => !isOfSameConsumer(row, record) || row.via === record.via);
    if (known === undefined || !isOfSameConsumer(known, record)) {
      const { consumer, via, api, version } = record;
      rows.push({ consumer, via, api, version, ...pickCounted(use), operations: [use] });
    } else {
      Object.assign(known, sum(known, use));
      known.operations = [...known.operations, use];
    }
  }
  return rows;
}

/**
 * Where the records of the last consumer begin. The next page may contain more of them. 0 if there is only one consumer.
 */
export function startOfLast(records: readonly UsageSubject[]): number {
  const last = records.at(-1);
  if (last === undefined) return 0;
  return records.findLastIndex((record) => !isOfSameConsumer(record, last)) + 1;
}

function isOfSameConsumer(one: VersionConsumer, other: VersionConsumer): boolean {
  return one.consumer === other.consumer && one.version === other.version && one.api === other.api;
}

export function sum(one: Counted, other: Counted): Counted {
  return {
    calls: one.calls + other.calls,
    trend: {
      week: one.trend.week + other.trend.week,
      weekBefore: one.trend.weekBefore + other.trend.weekBefore,
    },
    firstAt: Math.min(one.firstAt, other.firstAt),
    lastAt: Math.max(one.lastAt, other.lastAt),
  };
}

export function pickCounted({ calls, trend, firstAt, lastAt }: Counted): Counted {
  return { calls, trend, firstAt, lastAt };
}

export function countOf(record: UsageRecord, days: CountedDays): UsageCount {
  const { since, today, weekFrom, weekBeforeFrom } = days;
  let calls = 0;
  let week = 0;
  let weekBefore = 0;
  for (const [day, count] of Object.entries(record.callsByDay)) {
    if (day >= since) calls += count;
    if (day >= today || day < weekBeforeFrom) continue;
    if (day >= weekFrom) week += count;
    else weekBefore += count;
  }
  const { callsByDay: _days, sample: _sample, ...rest } = record;
  return { ...rest, calls, week, weekBefore };
}

function useOf({ operation, agents, calls, week, weekBefore, firstAt, lastAt }: UsageCount): OperationUse {
  return { operation, agents, calls, trend: { week, weekBefore }, firstAt, lastAt };
}

/** Keeps the rows with the most calls over any number of pages, with bounded memory. */
interface MostCalls {
  /** Rows sorted by api, version, consumer. The next call may continue the last consumer. */
  readonly add: (rows: readonly UsageRow[]) => void;
  readonly rows: () => readonly UsageRow[];
}

export function createMostCalls(most: number): MostCalls {
  let kept: UsageRow[] = [];
  /** The last consumer's rows, one per kind of credential. The next rows may add to them. */
  let open: UsageRow[] = [];
  const cut = (rows: readonly UsageRow[]) =>
    rows.toSorted((one, other) => other.calls - one.calls).slice(0, most);
  const closeConsumer = (): void => {
    kept.push(...open);
    open = [];
    // Sorts rarely, so that the cost per row stays low.
    if (kept.length >= 2 * most) kept = cut(kept);
  };
  return {
    add: (rows) => {
      for (const row of rows) {
        if (open[0] !== undefined && !isOfSameConsumer(open[0], row)) closeConsumer();
        const known = open.findIndex(({ via }) => via === row.via);
        const before = open[known];
        if (before === undefined) open.push(row);
        else open[known] = mergeRows(before, row);
      }
    },
    rows: () => cut([...kept, ...open]),
  };
}

function mergeRows(one: UsageRow, other: UsageRow): UsageRow {
  return { ...one, ...sum(one, other), operations: [...one.operations, ...other.operations] };
}
