// The ledger's queries on sundial.db, in short pieces, each by an index.
import type { DatabaseSync, SQLInputValue, SQLOutputValue, StatementSync } from 'node:sqlite';
import type { UsageCount, UsageFilter, UsagePlace } from '../../policy/usage/ledger.ts';
import { countFrom, type DayNumbers, recordFrom, type StoredUsage, type UsageChunk } from '../usage-text.ts';

export function createLedgerReading(database: DatabaseSync) {
  const prepare = (text: string): StatementSync => prepareExact(database, text);
  const daysOf = prepare('SELECT day, calls FROM usage_day WHERE record = ? AND day >= ? ORDER BY day');
  const sumsOf = prepare(
    // `total` never overflows. `sum` does, and that would refuse the batch.
    `SELECT count(*) AS days, total(iif(day >= ?3, calls, 0)) AS calls,
            total(iif(day >= ?4 AND day < ?5, calls, 0)) AS week,
            total(iif(day >= ?6 AND day < ?4, calls, 0)) AS week_before
     FROM usage_day WHERE record = ?1 AND day >= ?2`,
  );
  /** Prepared statements by their WHERE clause: one for each combination of conditions used so far. */
  const reads = new Map<string, StatementSync>();

  /** Looks at `most` rows, whether or not they have a day of interest, so that the time is bounded. */
  const rowsOf = (
    filter: Omit<UsageFilter, 'since'>,
    after: UsagePlace | undefined,
    most: number,
  ): readonly LedgerRow[] => {
    const { text, given } = conditionsOf(filter, after);
    const statement =
      reads.get(text) ??
      prepare(
        `SELECT id, ${PLACE}, first_at, last_at, agents, sample FROM usage WHERE ${text} ORDER BY ${PLACE} LIMIT ?`,
      );
    reads.set(text, statement);
    return statement.all(...given, most);
  };

  return {
    /** At most `most` records after `after`. `since`: the first day of interest. */
    readUsage: (
      filter: UsageFilter,
      since: number,
      after: UsagePlace | undefined,
      most: number,
    ): UsageChunk => {
      return chunkOf(rowsOf(filter, after, most), most, (row) => {
        const days = daysOf
          .all(row.id ?? null, since)
          .map((day) => [Number(day.day), Number(day.calls)] as const);
        const isSelected = filter.since === undefined || days.length > 0;
        return isSelected ? recordFrom({ ...headOf(row), sample: textOf(row.sample), days }) : undefined;
      });
    },
    countUsage: (
      filter: Omit<UsageFilter, 'since'>,
      { since, readFrom, weekFrom, weekBeforeFrom, today }: DayNumbers,
      after: UsagePlace | undefined,
      most: number,
    ): UsageChunk<UsageCount> =>
      chunkOf(rowsOf(filter, after, most), most, (row) => {
        const id = row.id ?? null;
        const sums = sumsOf.get(id, readFrom, since, weekFrom, today, weekBeforeFrom) ?? {};
        if (Number(sums.days) === 0) return undefined;
        const { calls, week, week_before: weekBefore } = sums;
        return countFrom({
          ...headOf(row),
          sums: { calls: Number(calls), week: Number(week), weekBefore: Number(weekBefore) },
        });
      }),
  };
}

/** Reads numbers as bigint. By default a number beyond 2^53 throws, which would end the thread. */
export function prepareExact(database: DatabaseSync, text: string): StatementSync {
  const statement = database.prepare(text);
  statement.setReadBigInts(true);
  return statement;
}

type LedgerRow = Readonly<Record<string, SQLOutputValue>>;

function chunkOf<T>(
  rows: readonly LedgerRow[],
  most: number,
  read: (row: LedgerRow) => T | undefined,
): UsageChunk<T> {
  const last = rows.length < most ? undefined : rows.at(-1);
  return { records: rows.flatMap((row) => read(row) ?? []), last: last && headOf(last).place };
}

function headOf(row: LedgerRow): Pick<StoredUsage, 'place' | 'firstAt' | 'lastAt' | 'agents'> {
  const text = (name: string): string => textOf(row[name]) ?? '';
  return {
    place: [text('api'), text('version'), text('consumer'), text('via'), text('operation')],
    firstAt: Number(row.first_at),
    lastAt: Number(row.last_at),
    agents: textOf(row.agents),
  };
}

export function textOf(value: SQLOutputValue | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** SQL text, and the value of each `?` in it. */
export interface Condition {
  readonly text: string;
  readonly given: readonly SQLInputValue[];
}

const COLUMNS = ['api', 'version', 'consumer', 'via', 'operation'] as const;

export const PLACE = COLUMNS.join(', ');

type Fixed = Readonly<Partial<Record<(typeof COLUMNS)[number], string>>>;

/** Only the conditions that are set, so that each combination uses the index that fits it. */
export function conditionsOf(filter: Omit<UsageFilter, 'since'>, after: UsagePlace | undefined): Condition {
  const fixed: Fixed = filter;
  const parts: Condition[] = [];
  for (const column of COLUMNS) {
    const value = fixed[column];
    if (value !== undefined) parts.push({ text: `${column} = ?`, given: [value] });
  }
  if (after !== undefined) parts.push(afterPlace(after, fixed));
  return {
    text: parts.length === 0 ? 'TRUE' : parts.map(({ text }) => text).join(' AND '),
    given: parts.flatMap(({ given }) => given),
  };
}

/**
 * Rows after a place, among those that have the `fixed` values. A fixed column must not be part of the
 * comparison: SQLite would then use the index for the fixed columns alone, and each page would scan all rows
 * before its place again.
 */
function afterPlace(after: UsagePlace, fixed: Fixed): Condition {
  const columns: string[] = [];
  const given: string[] = [];
  for (const [index, column] of COLUMNS.entries()) {
    const least = after[index] ?? '';
    const value = fixed[column];
    const order = value === undefined ? 0 : inOrder(value, least);
    // If all columns so far are equal, the fixed column decides and later columns do not matter.
    if (order !== 0) return comparison(columns, order > 0 ? '>=' : '>', given);
    if (value !== undefined) continue;
    columns.push(column);
    given.push(least);
  }
  return comparison(columns, '>', given);
}

function comparison(columns: readonly string[], operator: '>' | '>=', given: readonly string[]): Condition {
  if (columns.length === 0) return { text: operator === '>' ? 'FALSE' : 'TRUE', given: [] };
  return { text: `(${columns.join(', ')}) ${operator} (${given.map(() => '?').join(', ')})`, given };
}

/** SQLite compares texts by their bytes. */
function inOrder(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}
